// A mutable JSON value, as requests, patches and defaulting need it.
//
// Stored objects are texts (object.h); a Value lives only while one request is handled. Members keep the order in which
// they were written. Errors are worded as Go's encoding/json words them, because clients see them.
// Values are plain data: copyable, movable, not thread-safe.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/json.h"

namespace berth::validation {

class Value {
 public:
  enum class Type : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

  Value() = default;  // null
  static Value Bool(bool b);
  static Value Int(int64_t n);
  static Value Number(std::string_view literal);  // as it is to be written
  static Value String(std::string_view s);
  static Value Array();
  static Value Object();

  Type type() const { return type_; }
  bool IsNull() const { return type_ == Type::kNull; }
  bool IsBool() const { return type_ == Type::kBool; }
  bool IsNumber() const { return type_ == Type::kNumber; }
  bool IsString() const { return type_ == Type::kString; }
  bool IsArray() const { return type_ == Type::kArray; }
  bool IsObject() const { return type_ == Type::kObject; }

  bool AsBool() const { return bool_; }              // false unless a true boolean
  int64_t AsInt() const;                             // 0 unless a number that fits
  const std::string& text() const { return text_; }  // of a string; the literal of a number; else empty
  bool empty() const { return items.empty(); }

  // The member of an object, nullptr when there is none. Of members with equal names the last one counts.
  const Value* Find(std::string_view key) const;
  Value* Find(std::string_view key);
  // Follows names through objects; nullptr as soon as one is missing.
  const Value* At(std::initializer_list<std::string_view> path) const;
  Value* At(std::initializer_list<std::string_view> path);
  // The text of a string member, empty when absent or something else.
  std::string_view Str(std::string_view key) const;
  // Replaces or appends a member; makes an object of a null.
  Value& Set(std::string_view key, Value v);
  // The member, appended as an empty object when it is missing or null.
  Value& Child(std::string_view key);
  void Erase(std::string_view key);
  // Removes every member that is in `gone`, in one pass.
  void EraseAll(const absl::flat_hash_set<std::string>& gone);
  void Append(Value v);  // to an array

  friend bool operator==(const Value& a, const Value& b);  // members in any order; numbers by their literal

  // Children: the elements of an array, or the members of an object with `keys` beside them. Members may be appended
  // here directly; to rename or remove one, use the functions above.
  std::vector<Value> items;
  std::vector<std::string> keys;

  // Where the value stood in the text it was parsed from, in bytes: [begin, end).
  uint32_t begin = 0, end = 0;

 private:
  friend class Parser;

  // Where the members of a large object stand, by key. It is built by the first search, is brought up to date when
  // members were appended since, and is never copied.
  struct KeyIndex {
    KeyIndex() = default;
    KeyIndex(const KeyIndex&) {}
    KeyIndex(KeyIndex&&) = default;
    KeyIndex& operator=(const KeyIndex&) {
      places.reset();
      return *this;
    }
    KeyIndex& operator=(KeyIndex&&) = default;
    std::unique_ptr<absl::flat_hash_map<std::string, uint32_t>> places;
    size_t covered = 0;  // how many of `keys` are in `places`; meaningless without them
  };
  const Value* FindIndexed(std::string_view key) const;

  Type type_ = Type::kNull;
  bool bool_ = false;
  std::string text_;
  mutable KeyIndex index_;  // so even const members must not be called from two threads at once
};

// Nesting beyond this is refused: no object comes near, and no input may overflow the stack.
inline constexpr int kMaxDepth = 512;

// Parses one value and nothing behind it. Errors as in Go: "invalid character 'b' looking for beginning of value",
// "unexpected end of JSON input". Texts that are not UTF-8 get U+FFFD in place of each bad byte.
absl::StatusOr<Value> ParseJson(std::string_view text);

// Returns a value of pkg/api's reader (files, YAML) as a Value.
Value FromJson(const api::Json& j);

// Compact, as Go writes it: <, >, & and U+2028 escaped.
void AppendJson(const Value& v, std::string* out);
std::string ToJson(const Value& v);
// The same with the members of all objects in bytewise order, as Go writes maps.
std::string ToSortedJson(const Value& v);

// Two-space indentation of a compact JSON text, as 1.10's encoder writes it: an empty object has an empty line in it.
std::string Indent(std::string_view json);

// 'c' as Go quotes a character in its error texts.
std::string QuoteChar(unsigned char c);
// "s" as Go's %q prints a string.
std::string Quote(std::string_view s);

}  // namespace berth::validation
