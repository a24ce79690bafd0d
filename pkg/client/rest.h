// An API client: HttpClient with what every Kubernetes request needs. Identity (token, basic auth, impersonation, user
// agent), the client's rate limit, repeats that the server asks for, log lines and metrics.
//
// Limits: a token bucket for each client object, full at the start. A daemon has three clients, each
// with its own connections and bucket: scheduling, the lease, events; so failing pods never starve the lease.
// An answer 429 or >= 500 with an integer Retry-After is waited for and repeated, at most 10 attempts in all, as long
// as the request's timeout allows; "connection reset" likewise, after one second, for GET. Repeats pass the bucket
// again.
// Log lines: -v=4 throttled longer than 50 ms, -v=6 each exchange, -v=8 bodies.
#pragma once
#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <string_view>

#include "pkg/client/config.h"
#include "pkg/client/http.h"

namespace berth::client {

// Sees every exchange, on the I/O thread. The daemon turns it into rest_client_requests_total and
// rest_client_request_latency_seconds.
class RestObserver {
 public:
  virtual ~RestObserver() = default;
  // Each answer or failure, repeats and watches too. code: "200", or "<error>".
  virtual void OnAnswer(std::string_view code, std::string_view method, std::string_view host) = 0;
  // Each request once, repeats included, watches not. url: names and query values replaced, see UrlTemplate.
  virtual void OnLatency(std::string_view method, std::string_view url, double seconds) = 0;
  // The same requests, with the bytes of their bodies.
  virtual void OnExchange(std::string_view /*method*/, std::string_view /*host*/, double /*seconds*/,
                          size_t /*request_bytes*/, size_t /*response_bytes*/) {}
  // Each request that waited for the rate limit, or did not have to.
  virtual void OnThrottle(std::string_view /*method*/, std::string_view /*host*/, double /*seconds*/) {}
};

// An HttpClient whose targets get the server's path prefix and whose requests carry the identity. An error text in a
// Reply names method and URL: `Get "http://127.0.0.1:8080/api/v1/nodes": EOF`.
class RestClient : public HttpClient {
 public:
  // The observer may be null and must outlive the client. Errors: bad TLS settings.
  static absl::StatusOr<std::unique_ptr<RestClient>> New(AsioExecutor* executor, const RestConfig& config,
                                                         RestObserver* observer = nullptr);
  // Over another HttpClient, for tests.
  static std::unique_ptr<RestClient> Over(Executor* executor, const RestConfig& config,
                                          std::unique_ptr<HttpClient> http, RestObserver* observer = nullptr);

  virtual const RestConfig& config() const = 0;
  // Requests waiting for the rate limiter. From any thread.
  virtual size_t throttled() const = 0;
};

// "/api/v1/namespaces/{namespace}/pods/{name}/binding?limit={value}" with braces percent-encoded, behind `base`.
std::string UrlTemplate(std::string_view base, std::string_view target);

}  // namespace berth::client
