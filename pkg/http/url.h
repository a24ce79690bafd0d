// URLs of servers, as they appear in Policy files, kubeconfigs and proxy variables.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::http {

struct Url {
  bool https = false;
  std::string host;  // a name or an address, IPv6 without brackets
  uint16_t port = 0;
  std::string target;       // path and query; at least "/"
  std::string credentials;  // "user:password", percent-decoded; empty when the URL has none
};

// Parses "http://user:password@host:8080/path?x". Errors name the URL without its password, and the problem.
absl::StatusOr<Url> ParseUrl(std::string_view url);

// Returns the URL in a form that may be shown in logs, events, conditions and metrics: the password is replaced by
// three asterisks, as Go's HTTP client does ("http://user:***@host/"). `url` need not be a valid URL.
std::string RedactUrl(std::string_view url);

// Returns "host:port", with brackets around an IPv6 address.
std::string HostPort(std::string_view host, uint16_t port);

// Returns the value of an Authorization or Proxy-Authorization header for "user:password".
std::string BasicAuthorization(std::string_view credentials);

// Decodes percent-encoding: "%41" becomes "A". Incomplete escapes are kept.
std::string PercentDecode(std::string_view s);

// Percent-encodes text for a query value or a path segment. Letters, digits, '-', '_', '.' and '~' are kept.
std::string PercentEncode(std::string_view s);

}  // namespace berth::http
