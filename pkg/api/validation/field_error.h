// A problem with one field of an object, in the words of a Kubernetes API server, because scripts match on them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::validation {

// A path in an object, written as in errors: "spec.containers[0].resources.limits[cpu]". Cheap until it is printed.
class Path {
 public:
  Path(std::string_view name) : name_(name) {}    // NOLINT: implicit, as a path may be given as a text
  Path(const std::string& name) : name_(name) {}  // NOLINT
  Path(const char* name) : name_(name) {}         // NOLINT
  Path operator/(std::string_view child) const { return Path(this, child, -1, false); }
  Path operator[](size_t index) const { return Path(this, "", static_cast<int64_t>(index), false); }
  Path Key(std::string_view key) const { return Path(this, key, -1, true); }
  std::string str() const;

 private:
  Path(const Path* parent, std::string_view name, int64_t index, bool key)
      : parent_(parent), name_(name), index_(index), key_(key) {}
  const Path* parent_ = nullptr;  // must outlive this one: paths are built down the call stack
  std::string_view name_;
  int64_t index_ = -1;
  bool key_ = false;
};

// Words of the API, in the order of messages. For arguments: the words must outlive it.
class Words {
 public:
  Words(std::initializer_list<std::string_view> words) : words_(words.begin(), words.size()) {}  // NOLINT: implicit
  Words(const std::vector<std::string_view>& words) : words_(words) {}                           // NOLINT
  auto begin() const { return words_.begin(); }
  auto end() const { return words_.end(); }
  bool Have(std::string_view word) const { return std::find(begin(), end(), word) != end(); }

 private:
  std::span<const std::string_view> words_;
};

struct FieldError {
  enum class Type : uint8_t { kRequired, kInvalid, kNotSupported, kForbidden, kDuplicate, kNotFound, kTooLong };
  Type type = Type::kInvalid;
  std::string field;    // "spec.containers[0].image"
  std::string message;  // "Required value", "Invalid value: \"x\": must be ..."
  std::string Text() const { return field + ": " + message; }
};
using FieldErrors = std::vector<FieldError>;

// Functions that make errors in the words of Kubernetes' field.Required and its siblings. `value` is printed with
// quotes; the Raw forms print it unchanged.
FieldError Required(const Path& field, std::string_view detail = "");
FieldError Invalid(const Path& field, std::string_view value, std::string_view detail);
FieldError InvalidRaw(const Path& field, std::string_view value, std::string_view detail);
FieldError InvalidRaw(const Path& field, int64_t value, std::string_view detail);
FieldError NotSupported(const Path& field, std::string_view value, const Words& supported);
FieldError Forbidden(const Path& field, std::string_view detail);
FieldError Duplicate(const Path& field, std::string_view value);
FieldError DuplicateRaw(const Path& field, std::string_view value, std::string_view detail = "");
FieldError FieldNotFound(const Path& field, std::string_view value);
FieldError TooLong(const Path& field, size_t most);

}  // namespace berth::validation
