// The command line of hollow-apiserver.
#pragma once
#include <absl/status/statusor.h>

#include <string>

#include "pkg/apiserver/server.h"
#include "pkg/flags/flag_set.h"

namespace berth::apiserver {

struct CommandLine {
  ServerOptions server;
  bool help = false, version = false;
  int verbosity = 0;
};

// Parses the command line. Errors name the flag and what would be right.
absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv);

// Return the flags, and the text of --help.
flags::FlagSet Flags();
std::string HelpText();

}  // namespace berth::apiserver
