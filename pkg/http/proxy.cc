#include "pkg/http/proxy.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <cstdlib>
#include <vector>

#include "pkg/http/url.h"

namespace berth::http {
namespace {

namespace ip = boost::asio::ip;
using GetEnv = std::function<std::string(const char*)>;

// Returns the first variable that is not empty, and its name.
std::pair<std::string, const char*> First(const GetEnv& getenv, const std::vector<const char*>& names) {
  for (const char* name : names) {
    std::string value = getenv(name);
    if (!value.empty()) return {std::move(value), name};
  }
  return {"", ""};
}

bool InNetwork(const ip::address& address, const std::string& network) {
  boost::system::error_code bad;
  if (address.is_v4()) {
    const auto net = ip::make_network_v4(network, bad);
    return !bad && ip::network_v4(address.to_v4(), net.prefix_length()).canonical() == net.canonical();
  }
  const auto net = ip::make_network_v6(network, bad);
  return !bad && ip::network_v6(address.to_v6(), net.prefix_length()).canonical() == net.canonical();
}

// Returns whether `host` is reached without a proxy. REQUIRES: `host` is in lower case.
bool Direct(const std::string& host, const std::string& no_proxy) {
  if (host == "localhost") return true;
  boost::system::error_code no_address;
  const ip::address address = ip::make_address(host, no_address);
  if (!no_address && address.is_loopback()) return true;
  if (absl::StripAsciiWhitespace(no_proxy) == "*") return true;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(no_proxy, ','))) {
    std::string entry = absl::AsciiStrToLower(absl::StripAsciiWhitespace(part));
    if (entry.find('/') != std::string::npos) {
      if (!no_address && InNetwork(address, entry)) return true;
      continue;
    }
    // Removes brackets and the port: "[::1]:80", "host:80". An IPv6 address without brackets has several colons and no
    // port.
    if (const size_t close = entry.find(']'); entry.starts_with('[') && close != std::string::npos) {
      entry = entry.substr(1, close - 1);
    } else if (entry.find(':') == entry.rfind(':')) {
      entry = entry.substr(0, entry.find(':'));
    }
    if (entry.empty()) continue;
    if (entry == host) return true;
    if (entry[0] != '.') entry.insert(0, 1, '.');
    if (entry.substr(1) == host || (host.size() > entry.size() && host.ends_with(entry))) return true;
  }
  return false;
}

}  // namespace

std::string GetEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

absl::StatusOr<ProxyServer> ParseProxy(const std::string& value, const std::string& name) {
  std::string rest = value, scheme = "http";
  if (const size_t at = value.find("://"); at != std::string::npos) {
    scheme = absl::AsciiStrToLower(value.substr(0, at));
    rest = value.substr(at + 3);
  }
  rest = rest.substr(0, rest.find_first_of("/?#"));
  ProxyServer proxy;
  if (const size_t at = rest.rfind('@'); at != std::string::npos) {
    proxy.credentials = PercentDecode(rest.substr(0, at));
    if (proxy.credentials.find(':') == std::string::npos) proxy.credentials += ':';
    rest = rest.substr(at + 1);
  }
  const auto error = [&](std::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, "=", scheme, "://", proxy.credentials.empty() ? "" : "...@", rest, ": ", std::string(why)));
  };
  if (scheme != "http" && scheme != "https") {
    return error("proxies of this kind are not supported: a proxy is http[s]://[user:password@]host[:port]");
  }
  proxy.tls = scheme == "https";
  std::string port = proxy.tls ? "443" : "80";
  proxy.host = rest;
  if (rest.starts_with('[')) {
    const size_t close = rest.find(']');
    if (close == std::string::npos) return error("missing ']' in the host");
    proxy.host = rest.substr(1, close - 1);
    if (close + 1 < rest.size()) port = rest.substr(close + 1).erase(0, 1);
  } else if (const size_t colon = rest.find(':'); colon != std::string::npos) {
    proxy.host = rest.substr(0, colon);
    port = rest.substr(colon + 1);
  }
  int number = 0;
  if (proxy.host.empty()) return error("no host: a proxy is http[s]://[user:password@]host[:port]");
  if (!absl::SimpleAtoi(port, &number) || number < 1 || number > 65535) {
    return error("the port must be a number from 1 to 65535");
  }
  proxy.port = static_cast<uint16_t>(number);
  return proxy;
}

absl::StatusOr<std::optional<ProxyServer>> FindProxy(bool tls, const std::string& host, const GetEnv& getenv) {
  std::vector<const char*> names = {"HTTP_PROXY", "http_proxy"};
  if (tls) names.insert(names.begin(), {"HTTPS_PROXY", "https_proxy"});
  const auto [value, name] = First(getenv, names);
  if (value.empty() || Direct(absl::AsciiStrToLower(host), First(getenv, {"NO_PROXY", "no_proxy"}).first)) {
    return std::nullopt;
  }
  auto proxy = ParseProxy(value, name);
  if (!proxy.ok()) return proxy.status();
  return *std::move(proxy);
}

}  // namespace berth::http
