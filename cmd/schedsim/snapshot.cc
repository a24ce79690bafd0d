// The command snapshot: writes a running cluster as one List to standard output, for the other commands.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <unistd.h>

#include <iostream>

#include "cmd/schedsim/command.h"
#include "pkg/api/stream.h"
#include "pkg/client/config.h"
#include "pkg/client/snapshot.h"
#include "pkg/explain/output.h"
#include "pkg/release/release.h"
#include "pkg/util/status.h"
#include "pkg/util/version.h"

namespace berth::schedsim {
namespace {

constexpr double kQps = 50;
constexpr int kBurst = 100;

void SnapshotFlags(flags::FlagSet& add) {
  add("kubeconfig", Takes("FILE"),
      "how to reach the API server (default, without --master: the files of $KUBECONFIG, else ~/.kube/config, else the "
      "service account of the pod that it runs in)");
  add("master", Takes("URL"), "address of the API server, instead of that in the kubeconfig");
  add("context", Takes("NAME"), "context of the kubeconfig (default: the current one)");
  add("emulated-version", Takes(release::NamesWith("|"))->default_value(std::string(release::All().back().name)),
      "list the kinds that this release reads; those that the server does not have are named on standard error and "
      "left out");
}

absl::Status CheckSnapshot(const Invocation& invocation) {
  auto named = release::Named(invocation.Get<std::string>("emulated-version"));
  if (named.ok()) return absl::OkStatus();
  return util::InvalidArgument(absl::StrCat("--emulated-version: ", named.status().message()));
}

int TakeSnapshot(const Invocation& invocation, std::ostream& out) {
  const auto text = [&](const char* flag) {
    return invocation.Has(flag) ? invocation.Get<std::string>(flag) : std::string();
  };
  client::ConfigSources sources;
  sources.kubeconfig = text("kubeconfig");
  sources.master = text("master");
  sources.context = text("context");
  sources.default_files = true;
  auto config = client::LoadConfig(sources);
  if (!config.ok()) {
    std::cerr << "schedsim: " << util::Message(config.status()) << "\n";
    return kExitBadInput;
  }
  config->user_agent = client::UserAgent("schedsim", util::Version(), util::Commit(), "");
  config->qps = kQps;
  config->burst = kBurst;
  client::SnapshotOptions options;
  options.version = (*release::Named(invocation.Get<std::string>("emulated-version")))->version;
  auto snapshot = client::SnapshotCluster(*config, options);
  if (!snapshot.ok()) {
    std::cerr << "schedsim: " << util::Message(snapshot.status()) << "\n";
    return kExitBadInput;
  }
  if (!snapshot->missing.empty()) {
    std::cerr << "schedsim: the server does not have " << absl::StrJoin(snapshot->missing, ", ") << "\n";
  }
  std::cerr << "schedsim: " << explain::Counted(static_cast<int64_t>(snapshot->objects), "object") << " from "
            << config->url << "\n";
  // A terminal gets uncompressed text unless a flag says otherwise.
  const bool plain = invocation.output == "json" || (!invocation.Has("output") && isatty(STDOUT_FILENO) == 1);
  out << (plain ? snapshot->list : api::Gzip(snapshot->list));
  return kExitOk;
}

constexpr char kSnapshotExamples[] =
    R"(  schedsim snapshot > cluster.json.gz && schedsim run cluster.json.gz
  schedsim snapshot --kubeconfig admin.conf --context prod | schedsim capacity - --pod-spec web.yaml
  schedsim snapshot -o json | jq '.items | length'
)";

}  // namespace

extern const Command kSnapshotCommand = {
    .name = "snapshot",
    .arguments = "[flags]",
    .summary = "save a running cluster as a file that the other commands read",
    .outputs = "gzip json",
    .examples = kSnapshotExamples,
    .files = Command::Files::kNone,
    .add_flags = SnapshotFlags,
    .check = CheckSnapshot,
    .run = TakeSnapshot,
};

}  // namespace berth::schedsim
