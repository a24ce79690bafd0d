// The command line of hollow-apiserver.
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "pkg/apiserver/server.h"
#include "pkg/util/completion.h"

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

// Returns the flags for shell completion.
std::vector<util::CompletedFlag> FlagsToComplete();

// Parses a duration as Go writes it: "1h30m", "90s".
absl::StatusOr<absl::Duration> ParseGoDuration(const std::string& text);

}  // namespace berth::apiserver
