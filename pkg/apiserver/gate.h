// Decides who may come in, for every request of a listener that has a gate. The insecure listener has none.
#pragma once
#include <optional>

#include "pkg/apiserver/http.h"

namespace berth::apiserver {

class Gate {
 public:
  virtual ~Gate() = default;
  // The answer that refuses the request (401, 403), or nothing when it may pass. `certificate` is the user that the
  // client's verified certificate names.
  virtual std::optional<HttpResponse> Refuse(const HttpRequest& request,
                                             const std::optional<User>& certificate) const = 0;
  // Whether the sender of `request` may do `what`, for a SelfSubjectAccessReview. The request has passed.
  virtual bool Allows(const HttpRequest& request, const std::optional<User>& certificate,
                      const RequestInfo& what) const = 0;
};

}  // namespace berth::apiserver
