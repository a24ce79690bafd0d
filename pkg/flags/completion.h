// Shell completion, generated from the flags.
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "pkg/flags/flag_set.h"

namespace berth::flags {

struct CompletedCommand {
  std::string name, alias;  // the alias may be empty
  std::string summary;
  std::string outputs;  // values of -o, separated by blanks
  FlagSet flags;
};

// Return the completion for "bash", "zsh" or "fish" of a program whose command line is flags alone, and of one whose
// first word is a command, or "help". An error names the shells. Values are completed as names of files.
absl::StatusOr<std::string> CompletionFor(std::string_view shell, const std::string& program, const FlagSet& flags);
absl::StatusOr<std::string> CompletionFor(std::string_view shell, const std::string& program,
                                          const std::vector<CompletedCommand>& commands);

}  // namespace berth::flags
