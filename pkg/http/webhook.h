// POST to any URL, blocking, with one deadline for the whole exchange: for webhooks such as extenders.
//
// Connections are kept alive and reused, over the same client as the API server's: TLS, proxies of the environment
// (NO_PROXY with networks too), certificates that are read again when their files change. Status codes are the caller's
// business; an error is a request that got no whole answer, and names the URL. Redirects are not followed.
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
  // For https URLs. Where there is a file and no PEM, the file is read by Create.
  TlsOptions tls;
  absl::Duration timeout = absl::Seconds(5);       // from the name lookup to the last byte of the body
  size_t max_body = size_t{256} << 20;             // bytes of an answer; more is an error
  std::function<std::string(const char*)> getenv;  // for proxies; empty: the environment of this process
};

struct WebhookAnswer {
  int status = 0;
  std::string body;
};

// Thread-safe: each call uses a connection of its own.
class WebhookClient {
 public:
  // Errors: a file that cannot be read ("open /x: no such file or directory"), TLS settings that cannot work.
  // Throws std::system_error when the system has no file descriptor left.
  static absl::StatusOr<std::unique_ptr<WebhookClient>> Create(WebhookOptions options);
  ~WebhookClient();

  // Content-Type application/json. A user and password in the URL are sent as Basic authorization, and error texts show
  // the URL without the password. With `repeatable`, a kept connection that the server had closed meanwhile is
  // replaced and the request sent once more; nothing else is ever retried.
  absl::StatusOr<WebhookAnswer> Post(const std::string& url, std::string_view body, bool repeatable);

 private:
  struct State;
  explicit WebhookClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace berth::http
