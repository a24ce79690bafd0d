// POST over HTTP/1.1 and HTTPS, blocking, with one deadline for the whole exchange: for webhooks such as extenders.
//
// Connections are kept alive and reused. Status codes are the caller's business; an error is a request that got no
// whole answer, and names the URL. Redirects are not followed, bodies are not compressed. Proxies: http_proxy,
// https_proxy and no_proxy (also in capitals) are honoured; loopback addresses are never proxied.
#pragma once
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace berth::util {

// Texts are PEM. Of data and file the data wins. All empty: the system's certificate authorities judge, no client
// certificate is shown.
struct TlsSettings {
  bool insecure = false;    // accept any certificate
  std::string server_name;  // SNI and the name the certificate must have; empty: the URL's host
  std::string ca_data, ca_file, cert_data, cert_file, key_data, key_file;
};

struct HttpPostOptions {
  TlsSettings tls;                            // for https URLs
  absl::Duration timeout = absl::Seconds(5);  // from the name lookup to the last byte of the body
  size_t max_body = size_t{256} << 20;        // bytes of an answer; more is an error
  size_t max_idle = 4;                        // connections kept alive for each server
};

struct HttpAnswer {
  int status = 0;
  std::string body;
};

// Thread-safe: each call uses a connection of its own.
class HttpPoster {
 public:
  // Files are read here and now: "open /x: no such file or directory". A CA together with `insecure` is an error:
  // "specifying a root certificates file with the insecure flag is not allowed".
  static absl::StatusOr<std::unique_ptr<HttpPoster>> Create(HttpPostOptions options);
  ~HttpPoster();

  // Content-Type application/json. With `repeatable`, a kept connection that the server had closed meanwhile is
  // replaced and the request sent once more; nothing else is ever retried.
  absl::StatusOr<HttpAnswer> Post(const std::string& url, std::string_view body, bool repeatable);

 private:
  struct State;
  explicit HttpPoster(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// "http://host:8080/path?x": what Post takes. Errors name the URL and what is wrong with it.
struct ParsedUrl {
  bool https = false;
  std::string host;    // without brackets
  std::string port;    // "80" or "443" when the URL has none
  std::string target;  // path and query; "/" at least
};
absl::StatusOr<ParsedUrl> ParseUrl(const std::string& url);

}  // namespace berth::util
