// Why an API request failed, so that callers can tell 404 from 409 from "nobody knows".
#pragma once
#include <string>
#include <string_view>

#include "pkg/client/http.h"

namespace berth::client {

struct ApiError {
  int code = 0;         // HTTP status; 0 with `transport` or a local failure
  std::string reason;   // "NotFound", "Conflict", "AlreadyExists", "Forbidden", ... as in Status.reason
  std::string message;  // for logs, events and conditions; the server's own words where it has any. Empty: no error
  std::string details_kind, details_name;
  bool transport = false;   // no answer at all
  bool maybe_done = false;  // no answer, and the server may have done it all the same: ask before trying again

  bool ok() const { return message.empty(); }
  bool NotFound() const { return code == 404; }
  bool Conflict() const { return code == 409 && reason != "AlreadyExists"; }
  bool AlreadyExists() const { return reason == "AlreadyExists"; }
};

// The error in a reply; ok() for 2xx. A body that is a Status speaks for itself; for anything else the text is
// client-go's for that code: "the server could not find the requested resource (get nodes)". `resource` is what the
// request was about, with its group: "pods", "replicasets.extensions".
ApiError ErrorFrom(const Request& request, const Reply& reply, std::string_view resource, std::string_view name = {});

// A value or the reason why there is none.
template <typename T>
struct ApiResult {
  ApiError error;
  T value{};
  bool ok() const { return error.ok(); }
};

}  // namespace berth::client
