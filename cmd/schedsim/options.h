// schedsim's command line: which command, with which flags and files.
#pragma once
#include <absl/status/statusor.h>

#include <string>

#include "cmd/schedsim/command.h"

namespace berth::schedsim {

struct ParsedLine {
  std::string text;  // not empty: help or version, to be printed instead of running anything
  int verbosity = 0;
  Invocation invocation;
};

// kInvalidArgument: a wrong flag or value (usage); any other error: a file that cannot be read or is not a Policy.
absl::StatusOr<ParsedLine> ParseOptions(int argc, char** argv);

}  // namespace berth::schedsim
