// An API client: an HttpClient that adds what every Kubernetes request needs: credentials (token, basic auth or a
// plugin's), impersonation, the user agent, the client's rate limit, retries, log lines and metrics.
//
// Rate limit: each client object has a token bucket, which is full at the start. The daemon has three clients, each
// with its own connections and bucket, for scheduling, the lease and events; so many failing pods cannot delay the
// lease.
//
// Retries: a response 429 or >= 500 with an integer Retry-After is retried after that time, up to 10 attempts in all,
// as long as the request's timeout allows. For GET, "connection reset" is retried after one second. Each retry takes a
// token from the bucket.
//
// Log lines: -v=4 for requests that were throttled for more than 50 ms, -v=6 for each exchange, -v=8 for bodies.
#pragma once
#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <string_view>

#include "pkg/client/config.h"
#include "pkg/client/http.h"

namespace berth::client {

// Receives every exchange, on the I/O thread. The daemon turns the calls into rest_client_requests_total and
// rest_client_request_latency_seconds.
class RestObserver {
 public:
  virtual ~RestObserver() = default;
  // Called for each response or failure, including those of retries and watches. code: "200", or "<error>".
  virtual void OnAnswer(std::string_view code, std::string_view method, std::string_view host) = 0;
  // Called once for each request made with Do(), not for streams; `seconds` includes retries. `url` has names and query
  // values replaced, see UrlTemplate.
  virtual void OnLatency(std::string_view method, std::string_view url, double seconds) = 0;
  // Called for the same requests as OnLatency, with the sizes of their bodies in bytes.
  virtual void OnExchange(std::string_view /*method*/, std::string_view /*host*/, double /*seconds*/,
                          size_t /*request_bytes*/, size_t /*response_bytes*/) {}
  // Called for each request that is subject to the rate limit; `seconds` is 0 if it did not have to wait.
  virtual void OnThrottle(std::string_view /*method*/, std::string_view /*host*/, double /*seconds*/) {}
};

// An HttpClient that puts the server's path prefix before targets and adds credentials to requests. The error text in a
// Reply names method and URL: `Get "http://127.0.0.1:8080/api/v1/nodes": EOF`.
class RestClient : public HttpClient {
 public:
  // `observer` may be null and must outlive the client. It is an error if the TLS settings are not usable.
  static absl::StatusOr<std::unique_ptr<RestClient>> New(AsioExecutor* executor, const RestConfig& config,
                                                         RestObserver* observer = nullptr);
  // Makes a client on top of another HttpClient, for tests.
  static std::unique_ptr<RestClient> Over(Executor* executor, const RestConfig& config,
                                          std::unique_ptr<HttpClient> http, RestObserver* observer = nullptr);

  virtual const RestConfig& config() const = 0;
  // Returns how many requests wait for the rate limiter. May be called from any thread.
  virtual size_t throttled() const = 0;
};

// Returns `base` and `target` with names and query values replaced by placeholders, whose braces are percent-encoded:
// "/api/v1/namespaces/{namespace}/pods/{name}/binding?limit={value}".
std::string UrlTemplate(std::string_view base, std::string_view target);

}  // namespace berth::client
