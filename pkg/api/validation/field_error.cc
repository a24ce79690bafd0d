#include "pkg/api/validation/field_error.h"

#include <absl/strings/str_cat.h>

#include "pkg/api/validation/value.h"
#include "pkg/util/go_text.h"

namespace berth::validation {
namespace {

FieldError Make(FieldError::Type type, const Path& field, std::string message, std::string_view detail) {
  if (!detail.empty()) message.append(": ").append(detail);
  return {type, field.str(), std::move(message)};
}

}  // namespace

std::string Path::str() const {
  std::string out = parent_ == nullptr ? std::string() : parent_->str();
  if (index_ >= 0) {
    absl::StrAppend(&out, "[", index_, "]");
  } else if (key_) {
    out.append("[").append(name_).append("]");
  } else {
    if (!out.empty()) out.push_back('.');
    out.append(name_);
  }
  return out;
}

FieldError Required(const Path& field, std::string_view detail) {
  return Make(FieldError::Type::kRequired, field, "Required value", detail);
}
FieldError Invalid(const Path& field, std::string_view value, std::string_view detail) {
  return InvalidRaw(field, util::GoQuoted(value), detail);
}
FieldError InvalidRaw(const Path& field, std::string_view value, std::string_view detail) {
  return Make(FieldError::Type::kInvalid, field, "Invalid value: " + std::string(value), detail);
}
FieldError InvalidRaw(const Path& field, int64_t value, std::string_view detail) {
  return InvalidRaw(field, std::to_string(value), detail);
}
FieldError NotSupported(const Path& field, std::string_view value, const Words& supported) {
  std::string list;
  for (std::string_view s : supported) list += (list.empty() ? "" : ", ") + util::GoQuoted(s);
  return Make(FieldError::Type::kNotSupported, field, "Unsupported value: " + util::GoQuoted(value),
              "supported values: " + list);
}
FieldError Forbidden(const Path& field, std::string_view detail) {
  return Make(FieldError::Type::kForbidden, field, "Forbidden", detail);
}
FieldError Duplicate(const Path& field, std::string_view value) {
  return DuplicateRaw(field, util::GoQuoted(value));
}
FieldError DuplicateRaw(const Path& field, std::string_view value, std::string_view detail) {
  return Make(FieldError::Type::kDuplicate, field, "Duplicate value: " + std::string(value), detail);
}
FieldError FieldNotFound(const Path& field, std::string_view value) {
  return Make(FieldError::Type::kNotFound, field, "Not found: " + util::GoQuoted(value), "");
}
FieldError TooLong(const Path& field, size_t most) {
  return Make(FieldError::Type::kTooLong, field, "Too long", absl::StrCat("must have at most ", most, " characters"));
}

}  // namespace berth::validation
