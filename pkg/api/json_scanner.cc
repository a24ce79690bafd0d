// Every byte of every list and watch passes here. Tables and vectors let the loops skip bytes that mean nothing, which
// is nearly all of them.
#include "pkg/api/json_scanner.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <array>
#include <bit>
#include <cstdint>

#include "pkg/util/contract.h"

namespace berth::api {
namespace {

// Outside of strings: 1 is a quote, 2 an opening bracket, 3 a closing bracket, and 0 any other byte.
constexpr std::array<uint8_t, 256> kOutside = [] {
  std::array<uint8_t, 256> t{};
  t['"'] = 1;
  t['{'] = t['['] = 2;
  t['}'] = t[']'] = 3;
  return t;
}();
// Inside of strings: 1 is a quote, 2 a backslash, and 0 any other byte.
constexpr std::array<uint8_t, 256> kInside = [] {
  std::array<uint8_t, 256> t{};
  t['"'] = 1;
  t['\\'] = 2;
  return t;
}();

}  // namespace

// Only brackets outside of strings count, so the state is the depth and whether a string, and an escape in it, is open.
size_t JsonScanner::ScanBytes(std::string_view s) {
  BERTH_REQUIRES(!done() || s.starts_with('{') || s.starts_with('['));
  const auto* p = reinterpret_cast<const unsigned char*>(s.data());
  const auto* const end = p + s.size();
  const auto* const begin = p;
  int depth = depth_;
  bool in_string = in_string_;
  if (escaped_ && p < end) {
    ++p;
    escaped_ = false;
  }
  while (p < end) {
    if (in_string) {
      while (p < end && kInside[*p] == 0) ++p;
      if (p == end) break;
      if (*p == '"') {
        in_string = false;
        ++p;
      } else if (p + 1 == end) {
        escaped_ = true;
        ++p;
      } else {
        p += 2;
      }
      continue;
    }
    while (p < end && kOutside[*p] == 0) ++p;
    if (p == end) break;
    uint8_t what = kOutside[*p++];
    if (what == 1) {
      in_string = true;
    } else if (what == 2) {
      ++depth;
    } else if (--depth <= 0) {
      depth = 0;
      break;
    }
  }
  depth_ = depth;
  in_string_ = in_string;
  return static_cast<size_t>(p - begin);
}

#ifdef __SSE2__

namespace {

// Of 64 bytes, a bit each: where quotes, backslashes, opening and closing brackets stand.
struct Marks {
  uint64_t quotes = 0, backslashes = 0, opens = 0, closes = 0;
};

Marks MarksOf(const char* p) {
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), open = _mm_set1_epi8('{'),
                close = _mm_set1_epi8('}'), brace = _mm_set1_epi8('{' - '[');
  Marks m;
  for (int i = 0; i < 4; ++i) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * i));
    const __m128i bracket = _mm_or_si128(v, brace);  // '[' becomes '{', and ']' becomes '}'
    auto bits = [&](__m128i equal) { return uint64_t{static_cast<uint16_t>(_mm_movemask_epi8(equal))} << (16 * i); };
    m.quotes |= bits(_mm_cmpeq_epi8(v, quote));
    m.backslashes |= bits(_mm_cmpeq_epi8(v, backslash));
    m.opens |= bits(_mm_cmpeq_epi8(bracket, open));
    m.closes |= bits(_mm_cmpeq_epi8(bracket, close));
  }
  return m;
}

// Bit i of the result is the parity of bits 0..i.
uint64_t Parities(uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

constexpr uint64_t kLast = uint64_t{1} << 63;

// Removes the quotes and backslashes that a backslash before them makes ordinary characters. `*escaped`: whether one
// stood before the block, and then whether one stands at its end.
void RemoveEscaped(Marks* m, bool* escaped) {
  if (*escaped) {
    m->quotes &= ~uint64_t{1};
    m->backslashes &= ~uint64_t{1};
  }
  *escaped = (m->backslashes & kLast) != 0;
  for (uint64_t left = m->backslashes; left != 0;) {
    const uint64_t next = (left & -left) << 1;  // the bit behind the first of those that are left
    if (next == 0) break;
    if (next == kLast) *escaped = false;
    m->quotes &= ~next;
    m->backslashes &= ~next;
    left &= left - 1;
    left &= ~next;
  }
}

}  // namespace

// A block in which a backslash stands outside of a string, which is no JSON, is left to ScanBytes.
size_t JsonScanner::ScanBlock(const char* block) {
  Marks m = MarksOf(block);
  bool escaped = escaped_;
  if (m.backslashes != 0 || escaped) RemoveEscaped(&m, &escaped);
  const uint64_t inside = Parities(m.quotes) ^ (in_string_ ? ~uint64_t{0} : 0);
  if ((m.backslashes & ~inside) != 0) return ScanBytes({block, kBlock});
  escaped_ = escaped;
  const uint64_t opens = m.opens & ~inside, closes = m.closes & ~inside;
  if (const int n = std::popcount(closes); depth_ > n) {
    depth_ += std::popcount(opens) - n;
    in_string_ = (inside & kLast) != 0;
    return kBlock;
  }
  for (uint64_t brackets = opens | closes; brackets != 0; brackets &= brackets - 1) {
    depth_ += (opens & brackets & -brackets) != 0 ? 1 : -1;
    if (depth_ > 0) continue;
    depth_ = 0;
    in_string_ = escaped_ = false;
    return static_cast<size_t>(std::countr_zero(brackets)) + 1;
  }
  in_string_ = (inside & kLast) != 0;
  return kBlock;
}

size_t JsonScanner::Scan(std::string_view s) {
  BERTH_REQUIRES(!done() || s.starts_with('{') || s.starts_with('['));
  size_t at = 0;
  for (; s.size() - at >= kBlock; at += kBlock) {
    const size_t taken = ScanBlock(s.data() + at);
    if (done()) return at + taken;
  }
  return at + ScanBytes(s.substr(at));
}

#else

size_t JsonScanner::Scan(std::string_view s) {
  return ScanBytes(s);
}

#endif

}  // namespace berth::api
