#include "pkg/util/wrap.h"

#include <algorithm>

namespace berth::util {
namespace {

bool ContinuesCharacter(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// Returns where a line ends that may be broken before `most` bytes, or else the first place behind them; npos: nowhere.
size_t BreakOf(std::string_view text, size_t most, const WrapForm& form) {
  const size_t begin = text.find_first_not_of(' ');
  size_t last = std::string_view::npos;
  for (size_t at = text.find(' ', begin); at != std::string_view::npos; at = text.find(' ', at + 1)) {
    if (form.at_commas && text[at - 1] != ',') continue;
    if (at >= most) return last != std::string_view::npos || form.cuts_words ? last : at;
    last = at;
  }
  return last;
}

}  // namespace

size_t WidthOf(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !ContinuesCharacter(c); }));
}

size_t BytesOf(std::string_view text, size_t columns) {
  size_t i = 0;
  while (i < text.size() && columns > 0) {
    ++i;
    while (i < text.size() && ContinuesCharacter(text[i])) ++i;
    --columns;
  }
  return i;
}

std::vector<std::string_view> Wrap(std::string_view text, const WrapForm& form) {
  std::vector<std::string_view> out;
  size_t room = form.first;
  while (WidthOf(text) > room) {
    size_t cut = BreakOf(text, BytesOf(text, room + 1), form);
    if (cut == std::string_view::npos && form.cuts_words) cut = BytesOf(text, room);
    if (cut == std::string_view::npos) break;
    const std::string_view line = text.substr(0, cut);
    out.push_back(line.substr(0, line.find_last_not_of(' ') + 1));
    text.remove_prefix(cut);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    room = form.width;
  }
  if (!text.empty() || out.empty()) out.push_back(text);
  return out;
}

}  // namespace berth::util
