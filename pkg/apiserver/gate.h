// Decides for each request of a listener whether it is allowed. The insecure listener has no gate.
#pragma once
#include <optional>

#include "pkg/apiserver/http.h"

namespace berth::apiserver {

class Gate {
 public:
  virtual ~Gate() = default;
  // Returns the response that rejects the request (401, 403), or nothing if it is allowed. `certificate` is the user
  // that the client's verified certificate names.
  virtual std::optional<HttpResponse> Refuse(const HttpRequest& request,
                                             const std::optional<User>& certificate) const = 0;
  // Returns whether the sender of `request` may do `what`, for a SelfSubjectAccessReview. Only for a request that
  // Refuse() has allowed.
  virtual bool Allows(const HttpRequest& request, const std::optional<User>& certificate,
                      const RequestInfo& what) const = 0;
  // Returns the sender of `request`, for a SelfSubjectReview. Only for a request that Refuse() has allowed.
  virtual User SenderOf(const HttpRequest& request, const std::optional<User>& certificate) const = 0;
};

}  // namespace berth::apiserver
