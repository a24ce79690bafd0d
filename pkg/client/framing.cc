// Whatever the sizes of the pieces, both framers look at each byte once, except for a line of a watch that is no value.
#include "pkg/client/framing.h"

#include <absl/strings/str_cat.h>

#include <cstring>

#include "pkg/util/status.h"

namespace berth::client {
namespace {

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

// A value that lies within one piece is passed on without being copied; only one that spans pieces is put together in
// `buffer_`. Servers write each event as a line, and who uses it finds out at once whether it is one: an object of
// which a part is missing is no JSON, and neither is an object with something behind it.
absl::Status ValueFramer::Feed(std::string_view piece, const std::function<Result(std::string_view, bool)>& f) {
  while (error_.ok()) {
    if (!open_) {
      while (!piece.empty() && IsSpace(piece.front())) piece.remove_prefix(1);
      if (piece.empty()) break;
      if (piece.front() != '{') {
        error_ = absl::DataLossError(absl::StrCat("expected a JSON object, found ", Show(piece.front())));
        break;
      }
      if (const void* end = std::memchr(piece.data(), '\n', piece.size()); end != nullptr) {
        const std::string_view line =
            piece.substr(0, static_cast<size_t>(static_cast<const char*>(end) - piece.data()));
        const Result result = f(line, false);
        if (result == Result::kLast) break;
        if (result == Result::kUsed) {
          piece.remove_prefix(line.size());
          continue;
        }
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
    if (f(value, true) == Result::kLast) break;
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
