// The certificate authorities that the secure port of release 1.29 trusts. The ConfigMap
// kube-system/extension-apiserver-authentication names the authorities of users' certificates and those of front
// proxies, which pass the user on in headers.
#pragma once
#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cmd/kube-scheduler/http_server.h"
#include "pkg/api/types.h"
#include "pkg/client/http.h"
#include "pkg/client/requests.h"

namespace berth::kube_scheduler {

// Digests of certificates (http::CertificateDigests).
using Digests = std::set<std::string>;

// Proxies in front of the API server that have already authenticated the user (Kubernetes' requestheader).
struct FrontProxy {
  Digests authorities;                      // the authorities of their certificates
  std::vector<std::string> allowed_names;   // allowed common names of their certificates; empty: any
  std::vector<std::string> user_headers;    // the first of them that is not empty has the user's name
  std::vector<std::string> uid_headers;     // the same for the user's uid
  std::vector<std::string> group_headers;   // each value is a group
  std::vector<std::string> extra_prefixes;  // "X-Remote-Extra-": the rest of the header's name is the key
};

// Returns the user that a request's headers name if its certificate is one of the proxy's, and otherwise nothing.
std::optional<client::UserInfo> UserOfProxy(const HttpRequest& r, const FrontProxy& proxy);

struct ClientAuthorities {
  std::string users_pem;  // empty: certificates of users are not accepted
  Digests users;
  std::string proxies_pem;
  std::optional<FrontProxy> proxy;
};

// Parses the ConfigMap. An error names the key and the problem with its value.
absl::StatusOr<ClientAuthorities> ReadClientAuthorities(const api::ConfigMap& map);

// Makes front proxies of flags. An error says what is wrong with the authorities.
absl::StatusOr<FrontProxy> ReadFrontProxy(const std::string& authorities_pem, std::vector<std::string> allowed_names,
                                          std::vector<std::string> user_headers, std::vector<std::string> uid_headers,
                                          std::vector<std::string> group_headers,
                                          std::vector<std::string> extra_prefixes);

// Reads the ConfigMap at once and then every minute for as long as the object exists. A failure is logged, and the last
// content stays in effect. Thread-safety: used on one thread.
class ClientAuthoritiesReader {
 public:
  // `changed` is called with the content when it differs from the last one. All arguments must outlive the reader.
  // If `failed` is not empty, it is called with the reason when nothing could be read the first time.
  ClientAuthoritiesReader(client::Executor* executor, client::Requests* requests,
                          std::function<void(const ClientAuthorities&)> changed,
                          std::function<void(const std::string&)> failed = {});
  void Start();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::kube_scheduler
