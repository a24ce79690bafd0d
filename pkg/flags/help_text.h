// The layout of the help texts of all programs: flags at the left, beside each what it is for, in lines of 80 columns.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace berth::flags {

struct Flag;

inline constexpr size_t kHelpWidth = 80;

// Returns the text in lines of at most kHelpWidth columns that are indented by `indent`. Lines are broken between words
// only, so a word that is too long for a line stands alone on a longer one. Line breaks of the text are kept.
std::string Wrapped(std::string_view text, size_t indent = 0);

// Returns a line or more for a flag.
std::string HelpOf(const Flag& flag);

}  // namespace berth::flags
