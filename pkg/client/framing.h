// Splits a stream of JSON into single values while bytes arrive. A piece may end anywhere, even inside a string.
//
// Both framers pass a view into the piece if the value lies within one piece, and otherwise a view into their own
// buffer. Views are valid during the call only. A value may be at most kMaxValueBytes long. After an error, each
// further call of Feed returns the same error.
#pragma once
#include <absl/status/status.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "pkg/api/json_scanner.h"

namespace berth::client {

inline constexpr size_t kMaxValueBytes = 64u << 20;

// Splits a watch stream: JSON objects one after another, with optional white space between them.
class ValueFramer {
 public:
  // What became of a text: it was used, it was used and the rest of the piece is to be dropped, or it is no JSON value.
  enum class Result { kUsed, kLast, kNoValue };
  // Calls `f` for each complete object. If `counted` is true, the object's quotes and brackets were counted, and
  // kNoValue means kUsed. Otherwise the text is a line, which nearly always is an object, and nothing was looked at; if
  // it is no value, the brackets are counted, and `f` is called again.
  absl::Status Feed(std::string_view piece, const std::function<Result(std::string_view, bool counted)>& f);
  // Returns whether the stream is inside an object.
  bool partial() const { return open_; }

 private:
  api::JsonScanner scanner_;
  std::string buffer_;
  bool open_ = false;
  absl::Status error_;
};

// Splits a list: one object whose member "items" is an array of objects. Passes on each element, and keeps the rest.
class ListFramer {
 public:
  // Calls `item` for each complete element. If `item` returns false, the call ends and the rest of the piece is
  // dropped.
  absl::Status Feed(std::string_view piece, const std::function<bool(std::string_view)>& item);
  // Returns whether the whole list has been read.
  bool done() const { return state_ == State::kAfter; }
  // Returns what has been read of the object without its items: {"kind":"PodList",...,"items":[]}. It is complete when
  // done() is true.
  std::string_view rest() const { return rest_; }

 private:
  enum class State { kBefore, kTop, kKey, kString, kNested, kItems, kItem, kAfter };
  absl::Status Fail(std::string_view why);
  State state_ = State::kBefore;
  api::JsonScanner scanner_;
  std::string rest_, buffer_, key_;
  bool escaped_ = false, value_next_ = false;
  absl::Status error_;
};

}  // namespace berth::client
