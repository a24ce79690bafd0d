// The layout of the help texts of all programs: flags at the left, beside each what it is for, in lines of 80 columns.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace berth::util {

inline constexpr size_t kHelpWidth = 80;

// Returns the text in lines of at most kHelpWidth columns that are indented by `indent`. Lines are broken between words
// only, so a word that is too long for a line stands alone on a longer one. Line breaks of the text are kept.
std::string Wrapped(std::string_view text, size_t indent = 0);

// A flag as help shows it.
struct HelpEntry {
  char shorthand = 0;  // 0: none
  std::string name;
  std::string value;      // what it takes, such as "FILE"; empty: nothing
  std::string purpose;    // what it is for
  std::string otherwise;  // what holds without the flag; empty: it goes without saying
};

// Returns a line or more for each flag, in the order given.
std::string HelpOf(const std::vector<HelpEntry>& entries);

// Returns the flags of a boost::program_options::options_description.
template <typename Description>
std::vector<HelpEntry> EntriesOf(const Description& flags) {
  std::vector<HelpEntry> out;
  for (const auto& flag : flags.options()) {
    const std::string shown = flag->format_name();  // "-o [ --output ]" or "--output"
    std::string value = flag->format_parameter();   // "FORMAT", or "FORMAT (=table)"
    std::string otherwise;
    if (const size_t at = value.find(" (="); at != std::string::npos) {
      otherwise = value.substr(at + 3, value.size() - at - 4);
      value.resize(at);
    }
    const char shorthand = shown.size() > 2 && shown[1] != '-' ? shown[1] : '\0';
    out.push_back({shorthand, flag->long_name(), value, flag->description(), otherwise});
  }
  return out;
}

}  // namespace berth::util
