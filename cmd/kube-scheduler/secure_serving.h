// HTTPS for the daemon's pages: a certificate, and who may see what (TokenReview, SubjectAccessReview), as later
// releases of kube-scheduler serve it on port 10259.
#pragma once
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "cmd/kube-scheduler/http_server.h"
#include "cmd/kube-scheduler/options.h"
#include "pkg/client/requests.h"
#include "pkg/util/clock.h"

namespace berth::kube_scheduler {

// The certificate of the flags; without one, a self-signed one for this host, kept in --cert-dir if that is set.
// Errors name the flag and the file.
absl::StatusOr<ServerTls> ServingCertificate(const SecureServingOptions& options);

// A self-signed certificate and its key, good for a year. `names`: host names and addresses.
struct SelfSigned {
  std::string cert_pem, key_pem;
};
absl::StatusOr<SelfSigned> MakeSelfSigned(const std::vector<std::string>& names);

// Decides about requests, one at a time. Answers of the API server are believed for ten seconds.
class AccessControl {
 public:
  // Each asks the API server and waits for its answer.
  using Authenticate = std::function<client::ApiResult<client::UserInfo>(const std::string& token)>;
  using Authorize = std::function<client::ApiResult<client::AccessAnswer>(const client::AccessQuestion&)>;
  AccessControl(Authenticate authenticate, Authorize authorize, const util::Clock* clock)
      : authenticate_(std::move(authenticate)), authorize_(std::move(authorize)), clock_(clock) {}

  // Nothing when the request may be answered, else what to answer: 401 or 403. /healthz is for everybody.
  std::optional<HttpResponse> Refuse(const HttpRequest& r);
  // Answers that are kept, believed or not any more; from any thread.
  size_t kept() const { return kept_; }

 private:
  Authenticate authenticate_;
  Authorize authorize_;
  const util::Clock* clock_;
  template <typename T>
  struct Kept {
    absl::Duration until;
    T value;
  };
  std::map<std::string, Kept<client::UserInfo>> users_;  // by token
  std::map<std::string, Kept<bool>> allowed_;            // by user, groups, verb and path
  std::atomic<size_t> kept_{0};
};

}  // namespace berth::kube_scheduler
