// Addresses of the form host:port, as flags and configurations have them.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace berth::util {

struct HostPort {
  std::string host;  // without brackets
  std::string port;
};
// Splits "host:port", in which an IPv6 host is in brackets. Returns nothing if the text does not have that form.
std::optional<HostPort> SplitHostPort(std::string_view address);
std::string JoinHostPort(std::string_view host, std::string_view port);
bool IsIpAddress(std::string_view text);  // IPv6 without brackets; a zone (%eth0) may follow
// Returns whether the text is an IP address or a DNS name.
bool IsHost(std::string_view text);
// Returns whether the text is a number from 0 to 65535.
bool IsPort(std::string_view text);

}  // namespace berth::util
