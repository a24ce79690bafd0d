// schedsim's command line: the command with its flags and files.
#pragma once
#include <absl/status/statusor.h>

#include <string>

#include "cmd/schedsim/command.h"

namespace berth::schedsim {

struct ParsedLine {
  std::string text;  // if not empty, help or version, to be printed instead of running a command
  int verbosity = 0;
  Invocation invocation;
};

// Parses the command line. kInvalidArgument is a wrong flag or value (usage); any other error is a file that cannot be
// read or is not a Policy.
absl::StatusOr<ParsedLine> ParseOptions(int argc, char** argv);

}  // namespace berth::schedsim
