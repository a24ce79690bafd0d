// Parses JSON as servers write it: without escapes other than the common ones, fractions, and anything that is wrong.
// For use within the JSON reader, which leaves everything else to the complete parser.
#pragma once
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json.h"

namespace berth::api::internal {

// Parses the whole text into the empty `out`. Returns false if the text is not JSON, or holds something that only the
// complete parser understands; `out` then holds a part. Whatever it accepts, the complete parser accepts too and reads
// in the same way, offsets included, but for what may be left `unread`. Allocates nothing unless a string has escapes.
// Thread-safety: thread-safe.
bool ParseQuickly(std::string_view text, KnownArrays* known, Unread unread, DocumentBuilder* out);

// Return where the elements of a list are, for ParseQuickly to read them one by one; they do not tell whether the text
// is JSON. NextElement: `text` begins with the bracket that ends an element. Returns the offset of the opening brace of
// the object behind the comma that follows, or the text's size if there is no such thing. ObjectSize: returns the size
// of the object at the front, braces included, or 0 if none begins or it does not end.
size_t NextElement(std::string_view text);
size_t ObjectSize(std::string_view text);

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

// Follows the members of a document to the array that may be known. The path's first name may be missing in the
// document, so that the object of an event is recognised when it is an element of a list.
class KnownPath {
 public:
  explicit KnownPath(KnownArrays* known) : known_(known) {}

  // Returns whether there is an array to look for.
  bool follows() const { return known_ != nullptr; }
  // To be called at each member; `depth` is the number of open objects and arrays.
  void Key(size_t depth, std::string_view key) {
    if (known_ == nullptr) return;
    const std::vector<std::string>& path = known_->path();
    const size_t above = depth - 1;
    if (above == 0) missing_ = path.size() > 1 && SameIgnoringCase(key, path[1]) ? 1 : 0;
    if (followed_ > above) followed_ = above;
    if (followed_ == above && above + missing_ < path.size() && SameIgnoringCase(key, path[above + missing_])) {
      ++followed_;
    }
  }
  // To be called at each array, which begins at the offset `at` and is counted in `depth`. Returns its size if it is to
  // be skipped, otherwise 0.
  size_t SizeIfKnown(size_t depth, size_t at) {
    if (known_ == nullptr || followed_ + 1 != depth || followed_ + missing_ != known_->path().size()) return 0;
    return known_->SizeIfKnown(at);
  }

 private:
  KnownArrays* known_;   // null: nothing is known
  size_t followed_ = 0;  // how many members of the path enclose this place
  size_t missing_ = 0;   // how many of its first names are missing
};

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
