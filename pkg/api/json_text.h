// What the reader and the writer of JSON ask about texts. For use within this package.
#pragma once
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <cstddef>
#include <cstring>
#include <string_view>

namespace berth::api::internal {

// Returns whether two texts are equal but for the case of ASCII letters.
inline bool SameIgnoringCase(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    char x = a[i], y = b[i];
    if (x >= 'A' && x <= 'Z') x = static_cast<char>(x + 32);
    if (y >= 'A' && y <= 'Z') y = static_cast<char>(y + 32);
    if (x != y) return false;
  }
  return true;
}

// Returns how many bytes at the front of a JSON string's content represent themselves.
inline size_t PlainRun(std::string_view s) {
  size_t i = 0;
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), space = _mm_set1_epi8(0x1f);
  for (; i + 16 <= s.size(); i += 16) {
    __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(s.data() + i));
    __m128i stop = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, backslash)),
                                _mm_cmpeq_epi8(_mm_max_epu8(v, space), space));
    if (int mask = _mm_movemask_epi8(stop)) return i + static_cast<size_t>(__builtin_ctz(static_cast<unsigned>(mask)));
  }
#endif
  while (i < s.size() && s[i] != '"' && s[i] != '\\' && static_cast<unsigned char>(s[i]) >= 0x20) ++i;
  return i;
}

// Returns where `what` begins in a text, at `from` or later, or npos. The library's functions, which look at each
// occurrence of the first byte or prepare a table, take about twice as many instructions. REQUIRES: from <=
// text.size(); `what` has two bytes or more.
inline size_t PlaceOf(std::string_view what, std::string_view text, size_t from = 0) {
  size_t i = from;
#ifdef __SSE2__
  const size_t last = what.size() - 1;
  const __m128i front = _mm_set1_epi8(what.front()), back = _mm_set1_epi8(what.back());
  const auto load = [&](size_t at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at)); };
  for (; i + last + 16 <= text.size(); i += 16) {
    const __m128i both = _mm_and_si128(_mm_cmpeq_epi8(load(i), front), _mm_cmpeq_epi8(load(i + last), back));
    for (auto mask = static_cast<unsigned>(_mm_movemask_epi8(both)); mask != 0; mask &= mask - 1) {
      const size_t at = i + static_cast<size_t>(__builtin_ctz(mask));
      if (std::memcmp(text.data() + at, what.data(), what.size()) == 0) return at;
    }
  }
#endif
  return text.find(what, i);
}

// Returns whether each escape in a JSON text is one that Json::Serialize writes.
bool HasUsualEscapes(std::string_view s);

// Returns whether a JSON text without space between tokens is what Json::Serialize writes: it has no characters that
// Serialize escapes, and no other escapes than Serialize's. Other texts may pass for different without being so.
inline bool IsAsSerialized(std::string_view s) {
  size_t i = 0;
  bool escapes = false;
#ifdef __SSE2__
  const auto is = [](__m128i v, char c) { return _mm_cmpeq_epi8(v, _mm_set1_epi8(c)); };
  __m128i backslashes = _mm_setzero_si128();
  for (; i + 16 <= s.size(); i += 16) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(s.data() + i));
    // Bytes beyond ASCII are negative.
    __m128i bad = _mm_cmplt_epi8(v, _mm_set1_epi8(' '));
    bad = _mm_or_si128(bad, _mm_or_si128(is(v, '<'), _mm_or_si128(is(v, '>'), is(v, '&'))));
    if (_mm_movemask_epi8(bad) != 0) return false;
    backslashes = _mm_or_si128(backslashes, is(v, '\\'));
  }
  escapes = _mm_movemask_epi8(backslashes) != 0;
#endif
  for (; i < s.size(); ++i) {
    const char c = s[i];
    if (static_cast<signed char>(c) < ' ' || c == '<' || c == '>' || c == '&') return false;
    escapes |= c == '\\';
  }
  return !escapes || HasUsualEscapes(s);
}

}  // namespace berth::api::internal
