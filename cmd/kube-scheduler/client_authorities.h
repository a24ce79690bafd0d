// Whom the secure port of release 1.29 believes without asking: the ConfigMap
// kube-system/extension-apiserver-authentication names who signs certificates of users, and who signs those of front
// proxies, which tell in headers for whom they ask.
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

// Proxies in front of the API server that have identified the user already (Kubernetes' requestheader).
struct FrontProxy {
  Digests authorities;                      // who signs their certificates
  std::vector<std::string> allowed_names;   // common names of those certificates; empty: any
  std::vector<std::string> user_headers;    // the first of them that is not empty names the user
  std::vector<std::string> group_headers;   // each value is a group
  std::vector<std::string> extra_prefixes;  // X-Remote-Extra-: what follows names the value
};

// Returns the user that a request's headers name, if its certificate is one of the proxy's; else nothing.
std::optional<client::UserInfo> UserOfProxy(const HttpRequest& r, const FrontProxy& proxy);

struct ClientAuthorities {
  std::string users_pem;  // empty: no certificate names a user
  Digests users;
  std::string proxies_pem;
  std::optional<FrontProxy> proxy;
};

// Returns what the ConfigMap says. An error names the key and what is wrong with its value.
absl::StatusOr<ClientAuthorities> ReadClientAuthorities(const api::ConfigMap& map);

// Reads the ConfigMap at once and then every minute, for as long as it exists; says in the log when that fails, and
// goes on with what was read last. On one thread.
class ClientAuthoritiesReader {
 public:
  // `changed` gets what was read, when it is not the same as before. All outlive the reader.
  ClientAuthoritiesReader(client::Executor* executor, client::Requests* requests,
                          std::function<void(const ClientAuthorities&)> changed);
  void Start();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::kube_scheduler
