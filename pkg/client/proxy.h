// The proxy on the way to a server, where the environment names one: what Go's client does in 1.10's time.
//
// HTTPS_PROXY for https, HTTP_PROXY for http and for https without the other; in lower case where those are not set.
// NO_PROXY is a list of what is reached directly: hosts, domains with all below them ("example.com", ".example.com"),
// networks ("10.0.0.0/8"), "*" for everything. Ports in it mean nothing. This machine (localhost, 127.x, ::1) is always
// reached directly.
#pragma once
#include <absl/status/statusor.h>

#include <functional>
#include <optional>
#include <string>

#include "pkg/client/http.h"

namespace berth::client {

// Nothing: directly. An error names variable and value, its password left out: a proxy is "http://[user:password@]
// host[:port]", the scheme may be missing; SOCKS and TLS to the proxy are not supported.
absl::StatusOr<std::optional<ProxyServer>> FindProxy(bool tls, const std::string& host,
                                                     const std::function<std::string(const char*)>& getenv);

}  // namespace berth::client
