// The command line of hollow-apiserver.
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <vector>

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

// Returns the text of --help.
std::string HelpText();

flags::FlagSet Flags();

// Parses a duration as Go writes it: "1h30m", "90s".
absl::StatusOr<absl::Duration> ParseGoDuration(const std::string& text);

}  // namespace berth::apiserver
