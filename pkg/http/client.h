// An HTTP/1.1 client for one server: a pool of keep-alive connections, TLS, and a timeout on every operation.
//
// An ordinary request has a connection to itself while it lasts. Small writes marked `pipeline` (bindings, events)
// share a few connections: they are sent one after another without waiting for responses, many of them in one system
// call. Streams (lists, watches) pass the body on in pieces as it arrives.
//
// A request is retried, at most twice and invisibly to the caller, only where that is safe: if it is a GET or none of
// its bytes were sent, and it met a connection that the server had closed while it was idle; or if it was pipelined
// behind a response with "Connection: close", so that the server cannot have processed it. If the response to any other
// write is lost, `maybe_done` is set, and only the caller can find out what happened.
//
// This package is independent of Kubernetes and adds no headers but Host, Content-Length, Content-Type and, where a
// request says so, Accept-Encoding.
#pragma once
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "pkg/http/executor.h"
#include "pkg/http/proxy.h"
#include "pkg/http/tls.h"
#include "pkg/http/url.h"

namespace berth::http {

enum class Method : uint8_t { kGet, kPost, kPut, kPatch, kDelete };
std::string_view MethodName(Method m);  // "GET", ...

struct Request {
  Method method = Method::kGet;
  std::string target;  // path and query, percent-encoded, starting with '/'
  std::string body;
  std::string_view content_type = "application/json";  // of the body; must be a literal; not sent without a body
  // The time allowed from the call of Do() (not from the turn in the rate limiter) to the last byte of the response; 0:
  // the client's default. For a pipelined request it limits the silence instead: it starts again with every response
  // that arrives on the request's connection, or, before the request has one, on any pipelined connection. A server
  // that is slow but responds is therefore not taken for dead.
  absl::Duration timeout;
  bool pipeline = false;
  // The request may be carried out twice. Like a GET it is sent again if it met a connection that the server had
  // closed.
  bool repeatable = false;
  bool accepts_gzip = false;  // the server may compress the body of its response
  bool throttled = true;      // false: not subject to the rate limit (watches, leases)
  // For Do() only. The body of a response with status 2xx is counted and dropped; that of any other is kept.
  bool discard_body = false;
  // For Do() only. Called on the I/O thread right before the request is handed to the socket. If it returns false, the
  // request fails and the server never sees it. So a request that waited while the process was stopped is not sent too
  // late.
  std::function<bool()> may_send;
};

// The result of an exchange. Either `status` is set, or `error` says why there is no response.
struct Reply {
  int status = 0;  // HTTP status; 0: no response
  std::string body;
  size_t body_bytes = 0;  // of the body as it was received, even if it was dropped; for Do() only
  std::string content_type;
  std::optional<int> retry_after;  // in seconds, if the header was an integer; see RetryDelay
  std::string error;  // "EOF", "dial tcp 10.0.0.1:6443: connect: connection refused", "no answer within 30s", ...
  // There is no response, but the server may have received the whole request and acted on it. If false, it cannot have.
  bool maybe_done = false;
  bool connection_reset = false;
  bool ok() const { return status >= 200 && status < 300; }
};

// The longest Retry-After that is obeyed. A larger value, for instance from a misconfigured proxy, would leave the
// scheduler idle long after the server has recovered.
inline constexpr absl::Duration kMaxRetryDelay = absl::Seconds(30);

// Returns how long to wait before repeating a request, at most kMaxRetryDelay, if the response has status 429 or at
// least 500 and an integer Retry-After. Returns nothing for every other response.
std::optional<absl::Duration> RetryDelay(const Reply& reply);

// Handlers of a streamed response. on_head is called once, with the status; then on_data for each piece of the body,
// which is valid only during the call; then on_end once. If the status is not 2xx, the body is not streamed: on_head
// receives it too (at most 1 MiB of it), followed by on_end. If there is no response, only on_end is called.
struct StreamHandlers {
  std::function<void(const Reply& head)> on_head;
  std::function<void(std::string_view data)> on_data;
  // `error` is empty if the body ended properly; otherwise "EOF", "unexpected EOF", "no data for 10m30s", ...
  std::function<void(const std::string& error)> on_end;
};

// A stream in progress. Destroying it cancels the stream; no handler is called afterwards.
class Stream {
 public:
  virtual ~Stream() = default;
};

struct StreamOptions {
  absl::Duration head_timeout = absl::Seconds(60);  // from the call to the first byte of the response
  // The longest silence within the body. It detects connections whose peer has disappeared.
  absl::Duration idle_timeout = absl::Seconds(60);
};

// The interface of a client for one server. Tests substitute their own.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  // Sends a request. Calls `done` exactly once, never inside this call, unless the client is destroyed first; then
  // `done` is not called.
  virtual void Do(Request request, std::function<void(Reply)> done) = 0;
  // The same with a request that the caller keeps too. The request must not change any more.
  virtual void DoShared(std::shared_ptr<const Request> request, std::function<void(Reply)> done) {
    Do(*request, std::move(done));
  }
  virtual std::unique_ptr<Stream> Open(Request request, StreamOptions options, StreamHandlers handlers) = 0;
  // Uses this client certificate for new connections from now on. Connections made with another one are closed when
  // nothing is in flight on them. Both arguments are PEM; both empty: no certificate. On an error nothing changes.
  virtual absl::Status UseCertificate(std::string cert_pem, std::string key_pem) {
    (void)cert_pem;
    (void)key_pem;
    return absl::OkStatus();
  }
};

// Sends a request and blocks until the response has arrived. May be called from any thread but the I/O thread.
// To be called while the I/O thread is running.
Reply DoBlocking(Executor* executor, HttpClient* client, Request request);

struct HttpOptions {
  std::string host;  // a name or an address, IPv6 without brackets
  uint16_t port = 80;
  std::string peer = "the server";                     // the server's name in log lines: "the API server"
  std::optional<TlsOptions> tls;                       // absent: plain http
  std::optional<ProxyServer> proxy;                    // HTTPS: opens a tunnel through it; HTTP: sends it the requests
  absl::Duration dial_timeout = absl::Seconds(30);     // for name lookup and connect
  absl::Duration tls_timeout = absl::Seconds(10);      // for the TLS handshake
  absl::Duration request_timeout = absl::Seconds(30);  // for requests that do not set their own
  absl::Duration idle_connection = absl::Seconds(90);  // an unused connection is closed after this
  int max_connections = 128;  // for ordinary requests, which otherwise wait; streams do not count
  // The number of connections for pipelined requests. The larger one applies while the server takes longer than a
  // millisecond for each request, since a server handles the requests on one connection one after another.
  int pipeline_connections = 4, slow_pipeline_connections = 32;
  size_t max_waiting = 200'000;  // requests waiting for a connection; further ones fail at once
  int pipeline_depth = 128;      // the most requests in flight on each pipelined connection
  // A pipelined connection is given only as many requests as the server answers in about this time. So few requests are
  // left in doubt when a connection to a slow server is lost.
  absl::Duration pipeline_latency = absl::Seconds(5);
  bool compression = true;             // false: Request::accepts_gzip has no effect
  size_t max_body_bytes = 256u << 20;  // of a response that is not streamed; a larger one is an error
};

// Returns the headers to send with the next request, each ended by CRLF.
using HeaderSource = std::function<std::string_view()>;

// Makes a client that uses sockets. An error means that the TLS settings cannot be used; it names the setting and the
// reason.
absl::StatusOr<std::unique_ptr<HttpClient>> NewHttpClient(AsioExecutor* executor, HttpOptions options,
                                                          HeaderSource headers = {});

}  // namespace berth::http
