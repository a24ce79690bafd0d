// The proxy on the way to a server, where the environment or a kubeconfig names one: what Go's client does in 1.10's
// time. The API client and the calls of extenders follow the same rules.
//
// HTTPS_PROXY for https, HTTP_PROXY for http and for https without the other; in lower case where those are not set.
// NO_PROXY is a list of what is reached directly: hosts, domains with all below them ("example.com", ".example.com"),
// networks ("10.0.0.0/8"), "*" for everything. Ports in it mean nothing. This machine (localhost, 127.x, ::1) is always
// reached directly.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace berth::http {

struct ProxyServer {
  std::string host;  // a name or an address, IPv6 without brackets
  uint16_t port = 80;
  std::string credentials;  // "user:password"; empty: none
  bool tls = false;  // the proxy itself is reached over TLS; its certificate is checked against the system's roots
};

// The environment of this process.
std::string GetEnvironment(const char* name);

// Parses "[http[s]://][user:password@]host[:port]". Errors begin with `name`, which says where the value is from, and
// leave its password out. SOCKS is not supported.
absl::StatusOr<ProxyServer> ParseProxy(const std::string& value, const std::string& name);

// Returns the proxy for requests to `host` (over TLS or not); nothing when it is reached directly.
absl::StatusOr<std::optional<ProxyServer>> FindProxy(bool tls, const std::string& host,
                                                     const std::function<std::string(const char*)>& getenv);

}  // namespace berth::http
