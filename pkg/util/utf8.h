#pragma once
#include <cstddef>
#include <string_view>

namespace berth::util {

// Returns the number of bytes of the UTF-8 character at the front of the text; 0 if there is none that is well-formed:
// a byte that stands alone, a surrogate, or a form that is longer than needed.
inline size_t Utf8Length(std::string_view text) {
  const auto at = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto tail = [&](size_t i) { return (at(i) & 0xc0) == 0x80; };
  const unsigned first = at(0), second = at(1);
  if (first < 0x80) return text.empty() ? 0 : 1;
  if (first >= 0xc2 && first < 0xe0) return tail(1) ? 2 : 0;
  if (first >= 0xe0 && first < 0xf0) {
    const bool bad = (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0);
    return tail(1) && tail(2) && !bad ? 3 : 0;
  }
  if (first >= 0xf0 && first < 0xf5) {
    const bool bad = (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
    return tail(1) && tail(2) && tail(3) && !bad ? 4 : 0;
  }
  return 0;
}

// Returns whether the whole text is UTF-8.
inline bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t size = Utf8Length(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace berth::util
