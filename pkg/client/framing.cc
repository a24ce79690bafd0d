// Both framers look at each byte once, whatever the sizes of the pieces. The tables below let the inner loops skip
// bytes that mean nothing, which is nearly all of them; that matters because every byte of every list and watch passes
// here.
#include "pkg/client/framing.h"

#include <absl/strings/str_cat.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <array>
#include <bit>
#include <cstdint>

#include "pkg/api/json.h"
#include "pkg/util/status.h"

namespace berth::client {
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

bool IsSpace(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

std::string Show(char c) {
  if (c > ' ' && c < 127) return absl::StrCat("'", std::string(1, c), "'");
  return absl::StrCat("byte ", static_cast<int>(static_cast<unsigned char>(c)));
}

absl::Status TooLong() {
  return absl::ResourceExhaustedError(absl::StrCat("a JSON value longer than ", kMaxValueBytes, " bytes"));
}

}  // namespace

// Only brackets outside of strings count, so the state is the depth and whether a string, and an escape in it, is open.
size_t JsonScanner::ScanBytes(std::string_view s) {
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

}  // namespace

size_t JsonScanner::Scan(std::string_view s) {
  size_t at = 0;
  while (s.size() - at >= 64) {
    const Marks m = MarksOf(s.data() + at);
    // A block with escapes, or one where the value may end, is left to the other way.
    if (m.backslashes == 0 && !escaped_) {
      const uint64_t inside = Parities(m.quotes) ^ (in_string_ ? ~uint64_t{0} : 0);
      const int opens = std::popcount(m.opens & ~inside), closes = std::popcount(m.closes & ~inside);
      if (depth_ > closes) {
        depth_ += opens - closes;
        in_string_ = (inside >> 63) != 0;
        at += 64;
        continue;
      }
    }
    const size_t taken = ScanBytes(s.substr(at, 64));
    at += taken;
    if (done()) return at;
  }
  return at + ScanBytes(s.substr(at));
}

#else

size_t JsonScanner::Scan(std::string_view s) {
  return ScanBytes(s);
}

#endif

// A value that lies within one piece is passed on without being copied; only one that spans pieces is put together in
// `buffer_`.
absl::Status ValueFramer::Feed(std::string_view piece, const std::function<bool(std::string_view)>& f) {
  while (error_.ok()) {
    if (!open_) {
      while (!piece.empty() && IsSpace(piece.front())) piece.remove_prefix(1);
      if (piece.empty()) break;
      if (piece.front() != '{') {
        error_ = absl::DataLossError(absl::StrCat("expected a JSON object, found ", Show(piece.front())));
        break;
      }
      scanner_.Reset();
      buffer_.clear();
      open_ = true;
    }
    size_t n = scanner_.Scan(piece);
    if (!scanner_.done()) {
      if (buffer_.size() + piece.size() > kMaxValueBytes) {
        error_ = TooLong();
      } else {
        buffer_.append(piece);
      }
      break;
    }
    open_ = false;
    std::string_view value = piece.substr(0, n);
    if (!buffer_.empty()) {
      buffer_.append(value);
      value = buffer_;
    }
    piece.remove_prefix(n);
    if (!f(value)) break;
  }
  return error_;
}

absl::Status ListFramer::Fail(std::string_view why) {
  state_ = State::kBefore;
  return error_ = absl::DataLossError(util::ToAbsl(why));
}

// NOLINT(readability-function-size): one case for each state of the automaton.
absl::Status ListFramer::Feed(std::string_view s, const std::function<bool(std::string_view)>& item) {
  size_t i = 0;
  while (error_.ok() && i < s.size()) {
    char c = s[i];
    switch (state_) {
      case State::kBefore:
      case State::kAfter:
        ++i;
        if (IsSpace(c)) break;
        if (c != '{' || state_ == State::kAfter) {
          return Fail(absl::StrCat(state_ == State::kAfter ? "expected the end" : "expected a JSON object", ", found ",
                                   Show(c)));
        }
        rest_.assign(1, c);
        state_ = State::kTop;
        break;
      case State::kTop:
        if (c == '{' || c == '[') {
          if (c == '[' && value_next_ && key_ == "items") {
            state_ = State::kItems;
            rest_ += c;
            ++i;
          } else {
            scanner_.Reset();
            state_ = State::kNested;
          }
          value_next_ = false;
          break;
        }
        ++i;
        rest_ += c;
        if (c == '"') {
          state_ = value_next_ ? State::kString : State::kKey;
          if (!value_next_) key_.clear();
          value_next_ = false;
        } else if (c == ':') {
          value_next_ = true;
        } else if (c == ',') {
          value_next_ = false;
        } else if (c == '}') {
          state_ = State::kAfter;
        }
        break;
      case State::kKey:
      case State::kString:
        ++i;
        rest_ += c;
        if (escaped_) {
          escaped_ = false;
        } else if (c == '\\') {
          escaped_ = true;
        } else if (c == '"') {
          state_ = State::kTop;
          break;
        }
        if (state_ == State::kKey) key_ += c;
        break;
      case State::kNested: {
        size_t n = scanner_.Scan(s.substr(i));
        rest_.append(s.substr(i, n));
        i += n;
        if (scanner_.done()) state_ = State::kTop;
        break;
      }
      case State::kItems:
        if (c == '{') {
          scanner_.Reset();
          buffer_.clear();
          state_ = State::kItem;
          break;
        }
        ++i;
        if (c == ']') {
          rest_ += c;
          state_ = State::kTop;
        } else if (c != ',' && !IsSpace(c)) {
          return Fail(absl::StrCat("expected an object in \"items\", found ", Show(c)));
        }
        break;
      case State::kItem: {
        std::string_view part = s.substr(i);
        size_t n = scanner_.Scan(part);
        if (!scanner_.done()) {
          if (buffer_.size() + part.size() > kMaxValueBytes) return error_ = TooLong();
          buffer_.append(part);
          return error_;
        }
        state_ = State::kItems;
        i += n;
        std::string_view value = part.substr(0, n);
        if (!buffer_.empty()) {
          buffer_.append(value);
          value = buffer_;
        }
        if (!item(value)) return error_;
        break;
      }
    }
    if (rest_.size() > kMaxValueBytes) return error_ = TooLong();
  }
  return error_;
}

}  // namespace berth::client
