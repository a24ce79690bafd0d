// Shell completion for programs whose command line is flags alone.
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

namespace berth::util {

struct CompletedFlag {
  std::string name;  // without dashes
  std::string help;  // one sentence
  bool takes_value = false;
};

// Returns the completion of a program for "bash", "zsh" or "fish". An error names these. A value is completed as the
// name of a file.
absl::StatusOr<std::string> CompletionFor(std::string_view shell, std::string_view program,
                                          const std::vector<CompletedFlag>& flags);

// Return text inside single quotes as fish reads it, and as zsh's _arguments does, in which brackets and colons have a
// meaning.
std::string FishText(std::string_view text);
std::string ZshText(std::string_view text);

}  // namespace berth::util
