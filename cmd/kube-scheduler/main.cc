// kube-scheduler: watches for pods without a node and binds each to the best one.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>
#include <glog/logging.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "cmd/kube-scheduler/build_info.h"
#include "cmd/kube-scheduler/daemon.h"
#include "cmd/kube-scheduler/end_process.h"
#include "cmd/kube-scheduler/go_text.h"
#include "cmd/kube-scheduler/log_setup.h"
#include "cmd/kube-scheduler/options.h"
#include "cmd/kube-scheduler/process_log.h"
#include "cmd/kube-scheduler/written_config.h"
#include "pkg/flags/completion.h"
#include "pkg/heap/heap.h"
#include "pkg/util/checked_output.h"
#include "pkg/util/status.h"
#include "pkg/util/terminate.h"
#include "pkg/util/version.h"

namespace berth::kube_scheduler {
namespace {

int PrintVersion(const std::string& how, const release::Id& release) {
  const BuildInfo b = GetBuildInfo(release);
  if (how == "raw") {
    std::cout << absl::StrFormat(
        "version.Info{Major:%s, Minor:%s, GitVersion:%s, GitCommit:%s, GitTreeState:%s, BuildDate:%s, "
        "GoVersion:%s, Compiler:%s, Platform:%s}\n",
        GoQuoted(b.major), GoQuoted(b.minor), GoQuoted(b.git_version), GoQuoted(b.git_commit),
        GoQuoted(b.git_tree_state), GoQuoted(b.build_date), GoQuoted(b.go_version), GoQuoted(b.compiler),
        GoQuoted(b.platform));
  } else {
    std::cout << "Kubernetes " << b.git_version << "\nBerth " << util::Version() << ", commit " << b.git_commit
              << ", emulates the scheduler of Kubernetes " << b.major << "." << b.minor << "\n";
  }
  return 0;
}

int WriteConfiguration(const Configuration& c, const std::string& path) {
  FILE* f = std::fopen(path.c_str(), "w");
  std::vector<std::string> lost;
  const std::string text = WrittenConfiguration(c, &lost);
  const bool ok = f != nullptr && std::fwrite(text.data(), 1, text.size(), f) == text.size();
  if (f == nullptr || std::fclose(f) != 0 || !ok) {
    PrintError(absl::StrCat("--write-config-to: cannot write ", path, ": ", std::strerror(errno)));
    return 1;
  }
  LOG(INFO) << "Wrote configuration to: " << path;
  if (!lost.empty()) {
    LOG(WARNING) << absl::StrJoin(lost, ", ")
                 << " cannot be expressed in the file; pass it again together with --config=" << path;
  }
  return 0;
}

// Prints completion for a shell. The flags are those of all releases.
int PrintCompletion(const Options& options, const std::string& shell) {
  const auto text = flags::CompletionFor(shell, "kube-scheduler", options.flags());
  if (!text.ok()) {
    std::fprintf(stderr, "Error: %s.\n", util::Message(text.status()).c_str());
    return 1;
  }
  std::cout << *text;
  return 0;
}

int Main(int argc, char** argv) {
  BlockSignals();
  Options options;
  if (argc > 1 && std::string_view(argv[1]) == "completion") return PrintCompletion(options, argc == 3 ? argv[2] : "");
  if (absl::Status s = options.Parse({argv + 1, argv + argc}); !s.ok()) {
    std::fprintf(stderr, "Error: %s\n", WithHelp(util::Message(s)).c_str());
    return 1;
  }
  if (options.help) {
    std::cout << options.Help();
    return 0;
  }
  if (options.has_words() && options.Command().words == releases::CommandForm::Words::kMentioned) {
    std::fputs("arguments are not supported\n", stderr);
  }
  // The configuration decides which release's log is written.
  std::vector<std::string> warnings;
  absl::StatusOr<Configuration> config = options.Complete(&warnings);
  if (options.version != "false") {
    const auto named = release::Named(options.emulated_version());
    return PrintVersion(options.version, config.ok() ? *config->release : named.ok() ? **named : release::Default());
  }
  if (absl::IsUnimplemented(config.status())) {
    std::fprintf(stderr, "Error: %s\n", util::Message(config.status()).c_str());
    return 1;
  }
  const release::Id& release = config.ok() ? *config->release : options.ReleaseOfErrors();
  const releases::DaemonForm& form = releases::DaemonFormOf(release);
  if (absl::Status s = SetUpLogging(options.logging, argv[0], form.log != releases::LogForm::kSentences); !s.ok()) {
    PrintError(util::Message(s));
    return 1;
  }
  for (const std::string& line : options.gate_log()) LOG(INFO) << line;
  for (const flags::Flag* f : options.flags().Listed()) VLOG(1) << "FLAG: --" << f->name << "=" << GoQuoted(f->text());
  for (const std::string& w : warnings) LOG(WARNING) << w;
  int status = 1;
  if (!config.ok()) {
    ProcessLog(form, release).Failed(util::Message(config.status()));
  } else if (!options.write_config_to.empty()) {
    status = WriteConfiguration(*config, options.write_config_to);
  } else {
    status = RunDaemon(*config, options);
  }
  google::FlushLogFiles(google::INFO);
  return status;
}

}  // namespace
}  // namespace berth::kube_scheduler

int main(int argc, char** argv) {
  berth::heap::UseHugePages();
  berth::util::ExplainUncaughtExceptions("kube-scheduler");
  berth::util::CheckedOutput output("kube-scheduler");
  return output.Finish(berth::kube_scheduler::Main(argc, argv));
}
