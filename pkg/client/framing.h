// Cuts a stream of JSON into single values as bytes arrive, wherever the pieces are broken, without parsing them.
//
// Both framers give views into the piece itself where a value lies within one, else into a buffer of their own; valid
// during the call only. Nesting and size are limited: what is cut is at most kMaxValueBytes long.
// Feeding again after an error gives the same error.
#pragma once
#include <absl/status/status.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace berth::client {

inline constexpr size_t kMaxValueBytes = 64u << 20;

// Follows strings and brackets, byte by byte.
class JsonScanner {
 public:
  // How many bytes of `s` belong to the value under way: less than all when the value ends there, and then done() is
  // true. The first byte of a value must be '{'.
  size_t Scan(std::string_view s);
  bool done() const { return depth_ == 0 && !in_string_; }
  void Reset() { *this = {}; }

 private:
  int depth_ = 0;
  bool in_string_ = false, escaped_ = false;
};

// Objects one after another, white space between: a watch.
class ValueFramer {
 public:
  // Calls `f` for each object that is complete; it may return false to stop (the rest of the piece is dropped).
  absl::Status Feed(std::string_view piece, const std::function<bool(std::string_view)>& f);
  // In the middle of an object.
  bool partial() const { return open_; }

 private:
  JsonScanner scanner_;
  std::string buffer_;
  bool open_ = false;
  absl::Status error_;
};

// One object with a member "items": each of its elements on its own, and what is left of the object.
class ListFramer {
 public:
  // `item` may return false to stop.
  absl::Status Feed(std::string_view piece, const std::function<bool(std::string_view)>& item);
  // The whole list has been read.
  bool done() const { return state_ == State::kAfter; }
  // The object without its items: {"kind":"PodList",...,"items":[]}. As far as it was read; whole when done.
  std::string_view rest() const { return rest_; }

 private:
  enum class State { kBefore, kTop, kKey, kString, kNested, kItems, kItem, kAfter };
  absl::Status Fail(std::string_view why);
  State state_ = State::kBefore;
  JsonScanner scanner_;
  std::string rest_, buffer_, key_;
  bool escaped_ = false, value_next_ = false;
  absl::Status error_;
};

}  // namespace berth::client
