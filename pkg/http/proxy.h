// Finds the proxy for a server, as Go's HTTP client of the time of Kubernetes 1.10 does. The API client and the calls
// of extenders follow the same rules.
//
// HTTPS_PROXY applies to https; HTTP_PROXY applies to http, and to https if HTTPS_PROXY is not set. The lower-case
// names are used if the upper-case ones are not set. NO_PROXY lists what is reached directly: hosts, domains with
// everything below them ("example.com", ".example.com"), networks ("10.0.0.0/8"), or "*" for everything. Ports in it
// are ignored. The local host (localhost, 127.x, ::1) is always reached directly.
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
  bool tls = false;         // the proxy is reached over TLS and its certificate checked against the system's roots
};

// Returns a variable of this process's environment; "" if it is not set.
std::string GetEnvironment(const char* name);

// Parses "[http[s]://][user:password@]host[:port]". Errors begin with `name`, which says where the value comes from,
// and do not show the password. SOCKS is not supported.
absl::StatusOr<ProxyServer> ParseProxy(const std::string& value, const std::string& name);

// Returns the proxy for requests to `host`, or nothing if it is reached directly. `tls`: whether requests use https.
absl::StatusOr<std::optional<ProxyServer>> FindProxy(bool tls, const std::string& host,
                                                     const std::function<std::string(const char*)>& getenv);

}  // namespace berth::http
