// Breaks text into lines. Widths are in columns of a terminal, one for each character of UTF-8.
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

namespace berth::util {

// Returns the width of a text.
size_t WidthOf(std::string_view text);
// Returns the number of bytes of the first `columns` characters.
size_t BytesOf(std::string_view text, size_t columns);

struct WrapForm {
  size_t first = 0, width = 0;  // of the first line, and of the others
  bool at_commas = false;       // lines are broken behind commas only
  bool cuts_words = false;      // a word that is too long for a line is cut; otherwise its line is longer
};
// Splits a text at blanks into lines without blanks at their ends, but for those that the text begins with. Line breaks
// of the text are not looked at.
std::vector<std::string_view> Wrap(std::string_view text, const WrapForm& form);

}  // namespace berth::util
