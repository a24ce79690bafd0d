#include "pkg/http/proxy.h"

#include <catch2/catch.hpp>
#include <map>

#include "pkg/util/status.h"

namespace berth::http {
namespace {

using Environment = std::map<std::string, std::string>;

// Returns the proxy for `url` as "host:port", with "credentials@" before it if there are any; "" if there is none; or
// the error.
std::string Proxy(const std::string& url, Environment e) {
  const bool tls = url.starts_with("https://");
  auto p = FindProxy(tls, url.substr(tls ? 8 : 7), [&](const char* name) { return e[name]; });
  if (!p.ok()) return "error: " + util::Message(p.status());
  if (!*p) return "";
  return ((*p)->credentials.empty() ? "" : (*p)->credentials + "@") + (*p)->host + ":" + std::to_string((*p)->port);
}

}  // namespace

TEST_CASE("a proxy is found for the scheme, upper case first") {
  CHECK(Proxy("https://a", {}) == "");
  CHECK(Proxy("https://a", {{"HTTPS_PROXY", "http://p:3128"}}) == "p:3128");
  CHECK(Proxy("https://a", {{"https_proxy", "http://p:3128"}, {"HTTP_PROXY", "http://q"}}) == "p:3128");
  CHECK(Proxy("https://a", {{"https_proxy", "x:1"}, {"HTTPS_PROXY", "p:2"}}) == "p:2");
  CHECK(Proxy("https://a", {{"HTTP_PROXY", "http://q/"}}) == "q:80");
  CHECK(Proxy("http://a", {{"HTTP_PROXY", "q"}, {"HTTPS_PROXY", "p"}}) == "q:80");
  CHECK(Proxy("http://a", {{"HTTPS_PROXY", "p"}}) == "");
  CHECK(Proxy("http://a", {{"http_proxy", "HTTP://[fd00::1]:8080"}}) == "fd00::1:8080");
  CHECK(Proxy("http://a", {{"http_proxy", "http://[fd00::1]"}}) == "fd00::1:80");
  CHECK(Proxy("http://a", {{"http_proxy", "http://me:p%40ss@q:1"}}) == "me:p@ss@q:1");
  CHECK(Proxy("http://a", {{"http_proxy", "http://me@q:1"}}) == "me:@q:1");
}

TEST_CASE("a proxy may itself be reached over TLS") {
  const auto proxy = ParseProxy("https://me:secret@q", "proxy-url");
  REQUIRE(proxy.ok());
  CHECK(proxy->tls);
  CHECK(proxy->port == 443);
  CHECK(proxy->credentials == "me:secret");
  CHECK_FALSE(ParseProxy("q:3128", "proxy-url")->tls);
}

TEST_CASE("this machine and what NO_PROXY names are reached directly") {
  const auto direct = [](const std::string& host, const std::string& no_proxy, const char* name = "NO_PROXY") {
    return Proxy("http://" + host, {{"HTTP_PROXY", "q"}, {name, no_proxy}}) == "";
  };
  CHECK(direct("localhost", ""));
  CHECK(direct("127.0.0.1", ""));
  CHECK(direct("127.9.9.9", ""));
  CHECK(direct("::1", ""));
  CHECK_FALSE(direct("10.0.0.1", ""));
  CHECK_FALSE(direct("localhost.example.com", ""));
  CHECK(direct("any.thing", "*"));
  CHECK(direct("any.thing", " * "));
  CHECK_FALSE(direct("any.thing", "*.thing"));
  CHECK(direct("a.example.com", "x, Example.com:443 ,y"));
  CHECK(direct("example.com", "example.com"));
  CHECK(direct("EXAMPLE.com", "example.com", "no_proxy"));
  CHECK(direct("example.com", ".example.com"));
  CHECK(direct("b.a.example.com", ".example.com"));
  CHECK_FALSE(direct("notexample.com", "example.com"));
  CHECK_FALSE(direct("example.com", "a.example.com"));
  CHECK(direct("10.1.2.3", "10.1.2.3"));
  CHECK(direct("10.1.2.3", "192.168.0.0/16,10.0.0.0/8"));
  CHECK(direct("10.0.0.0", "10.0.0.0/8"));
  CHECK_FALSE(direct("11.1.2.3", "10.0.0.0/8"));
  CHECK_FALSE(direct("10.1.2.3", "10.0.0.0/x"));
  CHECK_FALSE(direct("name", "10.0.0.0/8"));
  CHECK(direct("fd00::5", "fd00::/8"));
  CHECK(direct("fd00::5", "[fd00::5]:443"));
  CHECK(direct("fd00::5", "fd00::5"));
  CHECK_FALSE(direct("fe00::5", "fd00::/8"));
  CHECK_FALSE(direct("10.1.2.3", "fd00::/8"));
  CHECK_FALSE(direct("a", ",, ,:80"));
}

TEST_CASE("a proxy that cannot be used is an error that names it without its password") {
  const auto error = [](const std::string& value) { return Proxy("https://a", {{"HTTPS_PROXY", value}}); };
  CHECK(error("socks5://me:secret@q:1080") ==
        "error: HTTPS_PROXY=socks5://...@q:1080: proxies of this kind are not supported: a proxy is "
        "http[s]://[user:password@]host[:port]");
  CHECK(error("http://q:http") == "error: HTTPS_PROXY=http://q:http: the port must be a number from 1 to 65535");
  CHECK(error("q:65536") == "error: HTTPS_PROXY=http://q:65536: the port must be a number from 1 to 65535");
  CHECK(error("http://:80") ==
        "error: HTTPS_PROXY=http://:80: no host: a proxy is http[s]://[user:password@]host[:port]");
  CHECK(error("http://[fd00::1") == "error: HTTPS_PROXY=http://[fd00::1: missing ']' in the host");
  // The error of an unusable proxy is not reported for a URL that needs no proxy.
  CHECK(Proxy("https://localhost", {{"HTTPS_PROXY", "socks5://q"}}) == "");
}

}  // namespace berth::http
