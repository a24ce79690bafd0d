// HTTPS for the daemon's pages: the serving certificate, and access control by TokenReview and SubjectAccessReview, as
// later releases of kube-scheduler have it on port 10259.
#pragma once
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <atomic>
#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cmd/kube-scheduler/client_authorities.h"
#include "cmd/kube-scheduler/http_server.h"
#include "cmd/kube-scheduler/options.h"
#include "pkg/client/requests.h"
#include "pkg/util/clock.h"

namespace berth::kube_scheduler {

// Returns this host's name, or "localhost" if it cannot be determined.
std::string HostName();

// Returns the certificate that the flags name; without one, a self-signed one for this host, which is stored in
// --cert-dir if that is set. Errors name the flag and the file.
absl::StatusOr<http::ServerTls> ServingCertificate(const SecureServingOptions& options);

// Makes a self-signed certificate that is valid for a year, and its key. `names` are host names and addresses.
struct SelfSigned {
  std::string cert_pem, key_pem;
};
absl::StatusOr<SelfSigned> MakeSelfSigned(const std::vector<std::string>& names);

// Decides who may see a page. Thread-safety: used on the servers' thread only, except kept().
//
// The API server's answers about a token or a user are cached for ten seconds or as flags say. The health pages are
// served without a review, so that probes do not wait for the API server.
//
// In the form kStatus (1.29), the health pages are /healthz, /livez and /readyz but not the pages of single checks, an
// invalid token is rejected even there, and rejections are Status objects in JSON. In the form kText (1.10), the pages
// of single checks are health pages too, and rejections are plain text.
class AccessControl {
 public:
  enum class Form : uint8_t { kText, kStatus };
  // Each sends a review to the API server and calls the callback later, on the same thread.
  using Authenticate = std::function<void(const std::string& token, client::Done<client::UserInfo>)>;
  using Authorize = std::function<void(const client::AccessQuestion&, client::Done<client::AccessAnswer>)>;
  // What flags say: how long answers are believed, and which paths everybody may see, with '*' at the end for anything.
  struct Settings {
    absl::Duration token = absl::Seconds(10), allowed = absl::Seconds(10), refused = absl::Seconds(10);
    std::vector<std::string> always_allow_paths;  // empty: the health pages
  };
  AccessControl(Authenticate authenticate, Authorize authorize, const util::Clock* clock, Form form)
      : authenticate_(std::move(authenticate)), authorize_(std::move(authorize)), clock_(clock), form_(form) {}
  void Follow(Settings settings) { settings_ = std::move(settings); }

  // Calls `done` once: with nothing if the request is allowed, and otherwise with the response that rejects it (401 or
  // 403). If no review is needed, the call happens inside Check. The object must outlive the callbacks of
  // `authenticate` and `authorize`.
  using Decision = std::function<void(std::optional<HttpResponse> refusal)>;
  void Check(const HttpRequest& r, Decision done);
  // Sets which certificates are accepted. Before this is called, each certificate that was verified names a user.
  void Believe(const ClientAuthorities& authorities) { authorities_ = authorities; }
  // Returns the number of cached answers, including expired ones. May be called from any thread.
  size_t kept() const { return kept_; }

 private:
  template <typename T>
  struct Kept {
    absl::Duration until;
    T value;
  };
  // Everything on which the API server's decision may depend. The parts are compared one by one and never joined, so
  // that the name of one group cannot look like two groups.
  struct AccessKey {
    std::string user, uid;
    std::vector<std::string> groups;
    std::map<std::string, std::vector<std::string>> extra;
    std::string verb, path;
    auto operator<=>(const AccessKey&) const = default;
  };
  void Identified(const client::UserInfo& user, std::string verb, std::string path, Decision done);
  void Forget();
  bool ForEverybody(const std::string& path) const;
  HttpResponse Unauthorized() const;
  HttpResponse Forbidden(const std::string& why) const;

  Authenticate authenticate_;
  Authorize authorize_;
  const util::Clock* clock_;
  void LogUnable(std::string_view what, std::string_view why) const;

  // Returns the user that the request's certificate names, or nothing.
  std::optional<client::UserInfo> UserOfCertificate(const HttpRequest& r) const;

  const Form form_;
  Settings settings_;
  std::optional<ClientAuthorities> authorities_;
  std::map<std::string, Kept<client::UserInfo>> users_;  // by token
  std::map<AccessKey, Kept<bool>> allowed_;
  std::atomic<size_t> kept_{0};
};

}  // namespace berth::kube_scheduler
