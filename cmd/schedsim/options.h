// schedsim's command line.
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "cmd/schedsim/scenario.h"

namespace berth::schedsim {

inline constexpr int kExitOk = 0, kExitBadInput = 1, kExitUsage = 2;

struct Options {
  std::string command;  // "run", "explain", "capacity", "check-policy"; empty for help and version
  std::vector<std::string> files;
  Algorithm algorithm;
  std::string output = "table";
  bool stats = false;
  std::string pod;                     // explain: NS/NAME
  std::vector<std::string> pod_specs;  // capacity
  int64_t max_replicas = 0;            // capacity: 0 for no limit
  std::string help;                    // text to print and leave
  int verbosity = 0;                   // -v
};

// kInvalidArgument: a wrong flag or value (usage); any other error: a file that cannot be read or is not a Policy.
absl::StatusOr<Options> ParseOptions(int argc, char** argv);

}  // namespace berth::schedsim
