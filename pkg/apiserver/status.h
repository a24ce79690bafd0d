// What the API answers when it says no: the Status object with code, reason, message and details.
//
// The texts are those of a 1.10 server; clients (the scheduler, kubectl, people's scripts) match on them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::apiserver {

// One complaint of validation about one field.
struct FieldError {
  enum class Type : uint8_t { kRequired, kInvalid, kNotSupported, kForbidden, kDuplicate, kNotFound, kTooLong };
  Type type = Type::kInvalid;
  std::string field;    // "spec.containers[0].image"
  std::string message;  // "Required value", "Invalid value: \"x\": must be ..."
  std::string Text() const { return field + ": " + message; }
};
using FieldErrors = std::vector<FieldError>;

// Makers, worded as field.Required and its kin are. `value` is printed with quotes; the Raw forms print it as it is.
FieldError Required(std::string_view field, std::string_view detail = "");
FieldError Invalid(std::string_view field, std::string_view value, std::string_view detail);
FieldError InvalidRaw(std::string_view field, std::string_view value, std::string_view detail);
FieldError NotSupported(std::string_view field, std::string_view value, const std::vector<std::string>& supported);
FieldError Forbidden(std::string_view field, std::string_view detail);
FieldError Duplicate(std::string_view field, std::string_view value);
FieldError DuplicateRaw(std::string_view field, std::string_view value, std::string_view detail = "");
FieldError FieldNotFound(std::string_view field, std::string_view value);
FieldError TooLong(std::string_view field, size_t most);

// A Status of failure. Empty reason: none is written (the recorded form of many 500s).
struct ApiError {
  int code = 500;
  std::string reason, message;
  bool has_details = false;
  std::string name, group, kind, uid;  // details
  FieldErrors causes;
  int retry_after_seconds = 0;  // also sent as Retry-After
  std::string ToJson() const;
};

// The resource an error is about: "pods" of group "", "replicasets" of group "apps".
struct GroupResource {
  std::string_view group, resource;
  std::string Text() const {
    std::string s(resource);
    if (!group.empty()) s.append(".").append(group);
    return s;
  }
};

ApiError BadRequest(std::string_view message);
ApiError InternalError(std::string_view message);  // 500 without a reason
ApiError NotFound(GroupResource r, std::string_view name);
ApiError AlreadyExists(GroupResource r, std::string_view name);
ApiError Conflict(GroupResource r, std::string_view name, std::string_view why);
ApiError ForbiddenError(GroupResource r, std::string_view name, std::string_view why);
ApiError InvalidObject(std::string_view group, std::string_view kind, std::string_view name, FieldErrors causes);
ApiError MethodNotAllowed();
ApiError UnknownResource();
ApiError UnsupportedMediaType();
ApiError NotAcceptable();
ApiError Unauthorized();
ApiError Timeout(std::string_view message);
ApiError Expired(std::string_view message);  // 410
ApiError Gone(std::string_view message);     // 410, inside a watch

// Status Success of a DELETE: details without a code.
std::string DeletedStatus(GroupResource r, std::string_view name, std::string_view uid);

}  // namespace berth::apiserver
