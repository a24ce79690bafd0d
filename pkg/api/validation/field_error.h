// A problem with one field of an object, in the words of a Kubernetes API server, because scripts match on them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::validation {

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
FieldError Required(std::string_view field, std::string_view detail = "");
FieldError Invalid(std::string_view field, std::string_view value, std::string_view detail);
FieldError InvalidRaw(std::string_view field, std::string_view value, std::string_view detail);
FieldError NotSupported(std::string_view field, std::string_view value, const std::vector<std::string>& supported);
FieldError Forbidden(std::string_view field, std::string_view detail);
FieldError Duplicate(std::string_view field, std::string_view value);
FieldError DuplicateRaw(std::string_view field, std::string_view value, std::string_view detail = "");
FieldError FieldNotFound(std::string_view field, std::string_view value);
FieldError TooLong(std::string_view field, size_t most);

}  // namespace berth::validation
