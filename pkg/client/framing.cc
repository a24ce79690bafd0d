// Both framers look at each byte once, whatever the sizes of the pieces. The tables below let the inner loops skip
// bytes that mean nothing, which is nearly all of them; that matters because every byte of every list and watch passes
// here.
#include "pkg/client/framing.h"

#include <absl/strings/str_cat.h>

#include <array>
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
size_t JsonScanner::Scan(std::string_view s) {
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
