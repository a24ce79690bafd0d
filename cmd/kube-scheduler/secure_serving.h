// HTTPS for the daemon's pages: a certificate, and who may see what (TokenReview, SubjectAccessReview), as later
// releases of kube-scheduler serve it on port 10259.
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

// Returns this host's name, "localhost" when it cannot be told.
std::string HostName();

// The certificate of the flags; without one, a self-signed one for this host, kept in --cert-dir if that is set.
// Errors name the flag and the file.
absl::StatusOr<http::ServerTls> ServingCertificate(const SecureServingOptions& options);

// A self-signed certificate and its key, good for a year. `names`: host names and addresses.
struct SelfSigned {
  std::string cert_pem, key_pem;
};
absl::StatusOr<SelfSigned> MakeSelfSigned(const std::vector<std::string>& names);

// Decides who may see a page. On the servers' thread only, but for kept().
//
// What the API server says about a token or a user is believed for ten seconds. Health pages are for everybody and are
// never asked about, so that no probe waits for the API server.
//
// As in 1.29, only /healthz, /livez and /readyz themselves are for everybody, not the pages of single checks; a token
// that is not good is refused there, too; and refusals are Status objects in JSON. In 1.10 they are plain texts.
class AccessControl {
 public:
  enum class Manner : uint8_t { k1_10, k1_29 };
  // Each asks the API server; the callback comes later, on the same thread.
  using Authenticate = std::function<void(const std::string& token, client::Done<client::UserInfo>)>;
  using Authorize = std::function<void(const client::AccessQuestion&, client::Done<client::AccessAnswer>)>;
  AccessControl(Authenticate authenticate, Authorize authorize, const util::Clock* clock, Manner manner = Manner::k1_10)
      : authenticate_(std::move(authenticate)), authorize_(std::move(authorize)), clock_(clock), manner_(manner) {}

  // Calls `done` once, inside the call where nothing has to be asked: with nothing when the request may be answered,
  // else with the answer that refuses it (401 or 403). The object must outlive the callbacks of `authenticate` and
  // `authorize`.
  using Decision = std::function<void(std::optional<HttpResponse> refusal)>;
  void Check(const HttpRequest& r, Decision done);
  // Certificates count as said there; without this each that was verified names a user.
  void Believe(const ClientAuthorities& authorities) { authorities_ = authorities; }
  // Answers that are kept, believed or not any more; from any thread.
  size_t kept() const { return kept_; }

 private:
  template <typename T>
  struct Kept {
    absl::Duration until;
    T value;
  };
  // Everything that the API server's decision may depend on. Parts are compared one by one and never joined, so that no
  // name of a group can pass for two groups.
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

  // The user that the request's certificate stands for; nothing when there is none.
  std::optional<client::UserInfo> UserOfCertificate(const HttpRequest& r) const;

  const Manner manner_;
  std::optional<ClientAuthorities> authorities_;
  std::map<std::string, Kept<client::UserInfo>> users_;  // by token
  std::map<AccessKey, Kept<bool>> allowed_;
  std::atomic<size_t> kept_{0};
};

}  // namespace berth::kube_scheduler
