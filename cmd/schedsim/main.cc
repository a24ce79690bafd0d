#include <glog/logging.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "cmd/schedsim/options.h"
#include "pkg/heap/heap.h"
#include "pkg/util/checked_output.h"
#include "pkg/util/status.h"
#include "pkg/util/terminate.h"

int main(int argc, char** argv) {
  using namespace berth;
  using namespace berth::schedsim;
  heap::UseHugePages();
  std::ios::sync_with_stdio(false);
  util::ExplainUncaughtExceptions("schedsim");
  util::CheckedOutput output("schedsim");
  FLAGS_logtostderr = true;
  FLAGS_log_year_in_prefix = false;
  google::InitGoogleLogging(argv[0]);
  auto line = ParseOptions(argc, argv);
  if (!line.ok()) {
    std::cerr << "schedsim: " << util::Message(line.status()) << "\n";
    if (line.status().code() != absl::StatusCode::kInvalidArgument) return kExitBadInput;
    const Command* command = argc > 1 ? FindCommand(argv[1]) : nullptr;
    std::cerr << HintFor(command) << "\n";
    return kExitUsage;
  }
  FLAGS_v = line->verbosity;
  if (!line->text.empty()) {
    std::cout << line->text;
    return output.Finish(kExitOk);
  }
  const auto& files = line->invocation.files;
  if (std::find(files.begin(), files.end(), "-") != files.end() && isatty(STDIN_FILENO) == 1) {
    std::cerr << "schedsim: reading standard input, which is this terminal; Ctrl-D ends it" << std::endl;
  }
  return output.Finish(line->invocation.command->run(line->invocation, std::cout));
}
