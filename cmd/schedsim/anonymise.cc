// The command anonymise: removes names from files that go into a bug report.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cmd/schedsim/command.h"
#include "pkg/api/stream.h"
#include "pkg/lab/scenario.h"
#include "pkg/recording/anonymise.h"
#include "pkg/recording/reader.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

absl::Status CheckAnonymise(const Invocation& o) {
  if (o.files.size() > 1) return util::InvalidArgument("one recording or file at a time can be anonymised");
  return absl::OkStatus();
}

// Returns the amounts that a pod asks for, without the names of resources.
std::vector<std::string> Asks(const api::PodTemplate& pod) {
  std::vector<std::string> out;
  const auto add = [&](const api::ResourceList& list) {
    for (const auto& [name, amount] : list) out.push_back(amount.String());
    out.emplace_back("/");
  };
  for (const auto* containers : {&pod.containers, &pod.init_containers}) {
    for (const api::Container& c : *containers) add(c.requests);
  }
  add(pod.overhead);
  std::sort(out.begin(), out.end());
  return out;
}

// Returns an error if the pods that are to be placed are not those of the original. Workloads, classes and LimitRanges
// are left out of the result, and they make or change pods while the original is read.
absl::Status CheckPods(const std::string& original, const std::string& result) {
  const auto read = [](const std::string& text) {
    lab::ReadOptions options;
    options.more_pods = true;
    options.defaults.release = &release::All().back();  // which has the most of what changes pods
    return lab::ReadTexts({{"input", std::make_shared<const std::string>(text)}}, options);
  };
  const auto before = read(original), after = read(result);
  if (!before.ok() || !after.ok()) return absl::OkStatus();  // what cannot be read decides nothing
  constexpr std::string_view kAdvice =
      "; give the pods as a cluster has them (kubectl get pods -o yaml), not the objects that they are made from";
  for (size_t i = 0; i < before->scenarios.size() && i < after->scenarios.size(); ++i) {
    const std::vector<api::PodPtr>&was = before->scenarios[i].pending, &is = after->scenarios[i].pending;
    if (was.size() != is.size()) {
      return util::InvalidArgument(absl::StrCat("the result would have ", is.size(), " of ", was.size(),
                                                " pending pods, because workloads are left out", std::string(kAdvice)));
    }
    for (size_t k = 0; k < was.size(); ++k) {
      if (was[k]->tmpl->priority == is[k]->tmpl->priority && Asks(*was[k]->tmpl) == Asks(*is[k]->tmpl)) continue;
      return util::InvalidArgument(
          absl::StrCat("pod ", was[k]->meta.Key(),
                       " would not have the same priority and requests in the result, because classes, "
                       "LimitRanges and quotas are left out",
                       std::string(kAdvice)));
    }
  }
  return absl::OkStatus();
}

absl::Status AnonymiseText(const std::string& path, std::ostream& out) {
  auto text = api::ReadInput(path);
  if (!text.ok()) return text.status();
  std::string result;
  BERTH_RETURN_IF_ERROR(recording::AnonymiseObjects(*text, [&](std::string_view line) { result += line; }));
  BERTH_RETURN_IF_ERROR(CheckPods(*text, result));
  out << result;
  return absl::OkStatus();
}

int Anonymise(const Invocation& o, std::ostream& out) {
  const std::string& path = o.files[0];
  const bool recorded = path != "-" && recording::IsRecording(path);
  const auto write = [&](std::string_view line) { out << line; };
  const absl::Status status = recorded ? recording::AnonymiseRecording(path, write) : AnonymiseText(path, out);
  if (status.ok()) return kExitOk;
  std::cerr << "schedsim: " << util::Message(status) << "\n";
  return kExitBadInput;
}

}  // namespace

extern const Command kAnonymiseCommand;
const Command kAnonymiseCommand = {
    .name = "anonymise",
    .arguments = "DIR|FILE",
    .summary = "the same recording or objects without names, for a bug report",
    .examples =
        "  schedsim anonymise /var/lib/berth/recording >report.jsonl\n"
        "  schedsim anonymise cluster.json | schedsim run -o placements\n",
    .files = Command::Files::kRequired,
    .check = CheckAnonymise,
    .run = Anonymise,
};

}  // namespace berth::schedsim
