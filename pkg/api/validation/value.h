// A mutable JSON value for requests, patches and defaulting.
//
// Members keep the order in which they were written. Errors are worded as Go's encoding/json words them, because
// clients see them. Thread-safety: plain data, copyable and movable, not thread-safe. Copies of a frozen value share
// what is not changed (Freeze), and may be used by several threads at once, each its own.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/status/statusor.h>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pkg/api/json.h"
#include "pkg/api/validation/shared_vector.h"

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
  // A member for the functions below: a text, a number, a truth value, or a copy of another value. For arguments.
  class Named {
   public:
    Named(std::string_view key, std::string_view text) : key_(key), value_(text) {}    // NOLINT: implicit
    Named(std::string_view key, const std::string& text) : key_(key), value_(text) {}  // NOLINT
    Named(std::string_view key, const char* text) : key_(key), value_(text) {}         // NOLINT
    Named(std::string_view key, bool b) : key_(key), value_(b) {}                      // NOLINT
    template <std::integral N>
    Named(std::string_view key, N n) : key_(key), value_(static_cast<int64_t>(n)) {}  // NOLINT
    Named(std::string_view key, const Value& v) : key_(key), value_(&v) {}            // NOLINT

   private:
    friend class Value;
    std::string_view key_;
    std::variant<std::string_view, bool, int64_t, const Value*> value_;
  };
  static Value Object(std::initializer_list<Named> members);  // with these members: {{"kind", "Pod"}, {"count", 3}}

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

  // Returns the member of an object, or nullptr. If a name occurs several times, the last one is used.
  const Value* Find(std::string_view key) const;
  Value* Find(std::string_view key);
  // Follows names through objects; returns nullptr if one is missing.
  const Value* At(std::initializer_list<std::string_view> path) const;
  Value* At(std::initializer_list<std::string_view> path);
  // Returns the text of a string member; empty if it is absent or something else.
  std::string_view Str(std::string_view key) const;
  // Replaces or appends a member; a null becomes an object.
  Value& Set(std::string_view key, Value v);
  // Sets each of these members. None of their texts may be one of this value.
  void SetAll(std::initializer_list<Named> members);
  // Returns the member, which is made an empty object if it is missing or null.
  Value& Child(std::string_view key);
  void Erase(std::string_view key);
  // Removes every member that is in `gone`, in one pass.
  void EraseAll(const absl::flat_hash_set<std::string>& gone);
  void Append(Value v);  // to an array

  friend bool operator==(const Value& a, const Value& b);  // members in any order; numbers by their literal

  // Children: the elements of an array, or the members of an object with `keys` beside them. Members may be appended
  // here directly; to rename or remove one, use the functions above.
  SharedVector<Value> items;
  SharedVector<std::string> keys;

  // Makes copies share all that is below this value, until they change it. Takes time for what is not frozen yet.
  // Nobody may hold a reference through which something below is changed.
  void Freeze();

  // The position of the value in the text that it was parsed from, in bytes: [begin, end).
  uint32_t begin = 0, end = 0;

 private:
  friend class ValueBuilder;

  // The positions of the members of a large object, by key. It is built by the first search, updated when members have
  // been appended since then, and never copied.
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
  // Returns the position of the member, or the number of members.
  size_t PlaceOf(std::string_view key) const;
  size_t PlaceInIndex(std::string_view key) const;

  Type type_ = Type::kNull;
  bool bool_ = false;
  std::string text_;
  mutable KeyIndex index_;  // so not even const members may be called from two threads at once, unless it is frozen
};

// Parses exactly one value. Errors are Go's: "invalid character 'b' looking for beginning of value", "unexpected end of
// JSON input". In texts that are not UTF-8, each bad byte is replaced by U+FFFD.
absl::StatusOr<Value> ParseJson(std::string_view text);

// Returns a value of pkg/api's reader (files, YAML) as a Value.
Value FromJson(const api::Json& j);

// Returns the places of an object's members in bytewise order of their keys, in which Go writes maps.
std::vector<size_t> OrderOfKeys(const Value& v);

// Returns compact JSON as Go writes it, with <, >, & and U+2028 escaped.
void AppendJson(const Value& v, std::string* out);
std::string ToJson(const Value& v);
// The same with the members of all objects in bytewise order, as Go writes maps.
std::string ToSortedJson(const Value& v);

// The same, indented by two spaces as the encoder of 1.10 does it: an empty object takes three lines.
std::string ToIndentedJson(const Value& v);
// Returns JSON in that form, and a text that is none as it is.
std::string Indent(std::string_view json);

// Returns the value, or an empty object when it is missing or null.
const Value& OrEmpty(const Value* v);

}  // namespace berth::validation
