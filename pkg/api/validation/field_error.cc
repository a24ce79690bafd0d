#include "pkg/api/validation/field_error.h"

#include <absl/strings/str_cat.h>

#include "pkg/api/validation/value.h"
#include "pkg/util/go_text.h"

namespace berth::validation {
namespace {

FieldError Make(FieldError::Type type, std::string_view field, std::string message, std::string_view detail) {
  if (!detail.empty()) message.append(": ").append(detail);
  return {type, std::string(field), std::move(message)};
}

}  // namespace

FieldError Required(std::string_view field, std::string_view detail) {
  return Make(FieldError::Type::kRequired, field, "Required value", detail);
}
FieldError Invalid(std::string_view field, std::string_view value, std::string_view detail) {
  return InvalidRaw(field, util::GoQuoted(value), detail);
}
FieldError InvalidRaw(std::string_view field, std::string_view value, std::string_view detail) {
  return Make(FieldError::Type::kInvalid, field, "Invalid value: " + std::string(value), detail);
}
FieldError NotSupported(std::string_view field, std::string_view value, const std::vector<std::string>& supported) {
  std::string list;
  for (const std::string& s : supported) list += (list.empty() ? "" : ", ") + util::GoQuoted(s);
  return Make(FieldError::Type::kNotSupported, field, "Unsupported value: " + util::GoQuoted(value),
              "supported values: " + list);
}
FieldError Forbidden(std::string_view field, std::string_view detail) {
  return Make(FieldError::Type::kForbidden, field, "Forbidden", detail);
}
FieldError Duplicate(std::string_view field, std::string_view value) {
  return DuplicateRaw(field, util::GoQuoted(value));
}
FieldError DuplicateRaw(std::string_view field, std::string_view value, std::string_view detail) {
  return Make(FieldError::Type::kDuplicate, field, "Duplicate value: " + std::string(value), detail);
}
FieldError FieldNotFound(std::string_view field, std::string_view value) {
  return Make(FieldError::Type::kNotFound, field, "Not found: " + util::GoQuoted(value), "");
}
FieldError TooLong(std::string_view field, size_t most) {
  return Make(FieldError::Type::kTooLong, field, "Too long", absl::StrCat("must have at most ", most, " characters"));
}

}  // namespace berth::validation
