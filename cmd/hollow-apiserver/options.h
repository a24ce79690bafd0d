// The command line of hollow-apiserver.
#pragma once
#include <absl/status/statusor.h>

#include <string>

#include "pkg/apiserver/server.h"

namespace berth::apiserver {

struct CommandLine {
  ServerOptions server;
  bool help = false, version = false;
  int verbosity = 0;
};

// Errors name the flag and what would be right.
absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv);

// What --help prints.
std::string HelpText();

// "1h30m", "90s": a duration as Go writes it.
absl::StatusOr<absl::Duration> ParseGoDuration(const std::string& text);

}  // namespace berth::apiserver
