#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <iostream>

#include "cmd/schedsim/commands.h"
#include "pkg/util/status.h"

int main(int argc, char** argv) {
  using namespace berth::schedsim;
  std::ios::sync_with_stdio(false);
  FLAGS_logtostderr = true;
  FLAGS_log_year_in_prefix = false;
  google::InitGoogleLogging(argv[0]);
  auto options = ParseOptions(argc, argv);
  if (!options.ok()) {
    std::cerr << "schedsim: " << berth::util::Message(options.status()) << "\n";
    if (options.status().code() != absl::StatusCode::kInvalidArgument) return kExitBadInput;
    std::cerr << "Run schedsim --help for usage.\n";
    return kExitUsage;
  }
  FLAGS_v = options->verbosity;
  if (!options->help.empty()) {
    std::cout << options->help;
    return kExitOk;
  }
  if (options->command == "explain") return Explain(*options, std::cout);
  if (options->command == "capacity") return Capacity(*options, std::cout);
  if (options->command == "check-policy") return CheckPolicy(*options, std::cout);
  return Run(*options, std::cout);
}
