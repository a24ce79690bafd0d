// Describes why an API request failed, so that callers can tell "not found" (404) from a conflict (409) and from a
// request whose outcome is unknown.
#pragma once
#include <string>
#include <string_view>

#include "pkg/client/http.h"

namespace berth::client {

struct ApiError {
  int code = 0;         // HTTP status; 0 with `transport` or a local failure
  std::string reason;   // "NotFound", "Conflict", "AlreadyExists", "Forbidden", ... as in Status.reason
  std::string message;  // for logs, events and conditions; the server's own text if it sent one; empty: no error
  std::string details_kind, details_name;
  bool transport = false;  // no HTTP response was received
  // No response was received, but the server may have carried out the request. Read the object before trying again.
  bool maybe_done = false;

  bool ok() const { return message.empty(); }
  bool NotFound() const { return code == 404; }
  bool Conflict() const { return code == 409 && reason != "AlreadyExists"; }
  bool AlreadyExists() const { return reason == "AlreadyExists"; }
};

// Returns the error in `reply`, which is ok() for status 2xx. If the body is a Status object, its reason and message
// are used. Otherwise the text is the one that client-go has for the status code: "the server could not find the
// requested resource (get nodes)". `resource` is the resource with its group: "pods", "replicasets.extensions".
ApiError ErrorFrom(const Request& request, const Reply& reply, std::string_view resource, std::string_view name = {});

// Holds either a value or the error because of which there is none.
template <typename T>
struct ApiResult {
  ApiError error;
  T value{};
  bool ok() const { return error.ok(); }
};

}  // namespace berth::client
