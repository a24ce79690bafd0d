// Errors of the API: the Status object with code, reason, message and details.
//
// The texts are those of a Kubernetes 1.10 server, because clients (the scheduler, kubectl, scripts) match on them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/store/api_types.h"

namespace berth::apiserver {

// A Status of failure. If `reason` is empty, none is written, as in many recorded 500s.
struct ApiError {
  int code = 500;
  std::string reason, message;
  bool has_details = false;
  std::string name, group, kind, uid;  // details
  FieldErrors causes;
  std::vector<std::pair<std::string, std::string>> other_causes;  // reason and message of causes without a field
  int retry_after_seconds = 0;                                    // also sent as Retry-After
  std::string ToJson() const;
};

ApiError BadRequest(std::string_view message);
ApiError InternalError(std::string_view message);  // status 500 without a reason
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
ApiError VersionTooLarge(uint64_t rv, uint64_t current);  // a version that the server has not reached yet
ApiError Timeout(std::string_view message);
ApiError Expired(std::string_view message);  // 410
ApiError Gone(std::string_view message);     // status 410, inside a watch

// Returns the Status Success of a DELETE, with details and without a code.
std::string DeletedStatus(GroupResource r, std::string_view name, std::string_view uid);

}  // namespace berth::apiserver
