// A blocking POST to any URL, with one deadline for the whole exchange, for webhooks such as extenders.
//
// Connections are kept alive and reused. The client is the one that is used for the API server: it supports TLS, the
// environment's proxies (with networks in NO_PROXY), and certificates that are read again when their files change.
// Every status is returned to the caller; an error means that no complete response was received, and names the URL.
// Redirects are not followed.
#pragma once
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "pkg/http/tls.h"

namespace berth::http {

struct WebhookOptions {
  // For https URLs. If there is a file but no PEM, Create reads the file.
  TlsOptions tls;
  absl::Duration timeout = absl::Seconds(5);       // from the name lookup to the last byte of the response
  size_t max_body = size_t{256} << 20;             // bytes of a response; a larger one is an error
  std::function<std::string(const char*)> getenv;  // for proxies; empty: the process's environment
};

struct WebhookAnswer {
  int status = 0;
  std::string body;
};

// Thread-safety: may be used from several threads; each call uses its own connection while it lasts.
class WebhookClient {
 public:
  // Errors: a file that cannot be read ("open /x: no such file or directory"), or TLS settings that cannot be used.
  // Throws std::system_error if no file descriptor is left.
  static absl::StatusOr<std::unique_ptr<WebhookClient>> Create(WebhookOptions options);
  ~WebhookClient();

  // Sends `body` as application/json. A user and password in the URL are sent as Basic authorization; error texts do
  // not show the password. If `repeatable` is true, the request is sent again when it met a kept connection that the
  // server had closed meanwhile. Nothing else is retried.
  absl::StatusOr<WebhookAnswer> Post(const std::string& url, std::string_view body, bool repeatable);

 private:
  struct State;
  explicit WebhookClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace berth::http
