// HTTP/1.1 to one server: a keep-alive pool of connections, TLS, a timeout on everything.
//
// Ordinary requests get a connection of their own while they last. Small writes marked `pipeline` (bindings, events)
// share a few connections and are sent one behind another without waiting for answers, many in one system call.
// Streams (lists, watches) hand the body over piece by piece, as it arrives.
//
// What may be repeated safely is repeated here, once, without the caller noticing: a request that met a connection
// which the server had closed while it was idle, if it is a GET or no byte of it was sent; and requests pipelined
// behind an answer that said "Connection: close", which the server must not have processed. Nothing else is repeated:
// a lost answer to a write is reported with `maybe_done`, and only its owner can find out.
//
// This package knows no Kubernetes and adds no headers but Host, Content-Length and Content-Type.
#pragma once
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/http/executor.h"
#include "pkg/http/proxy.h"
#include "pkg/http/tls.h"
#include "pkg/http/url.h"

namespace berth::http {

enum class Method : uint8_t { kGet, kPost, kPut, kPatch, kDelete };
std::string_view MethodName(Method m);  // "GET", ...

struct Request {
  Method method = Method::kGet;
  std::string target;  // path and query, percent-encoded, beginning with '/'
  std::string body;
  std::string_view content_type = "application/json";  // of the body; a literal. Not sent without a body
  // The longest wait for the answer, from the call (not from its turn in the rate limiter) to the last byte; 0: the
  // client's default. For a pipelined request it is the longest silence instead: it starts again with every answer that
  // arrives on the request's connection, or, before the request has one, on any pipelined connection. A server that is
  // slow but answers is therefore not taken for a dead one.
  absl::Duration timeout;
  bool pipeline = false;
  // Doing it twice does no harm. Like a GET it is sent again when it met a connection that the server had closed.
  bool repeatable = false;
  bool throttled = true;  // false: passes the rate limiter by (watches, leases)
  // Do() only. Called on the I/O thread right before the bytes are handed to the socket; false: the request fails, and
  // the server never sees it. So what waited for its turn while the process was stopped is not sent when its time is
  // over.
  std::function<bool()> may_send;
};

// How an exchange ended. Either `status` is set, or `error` says why there is no answer.
struct Reply {
  int status = 0;  // HTTP status; 0: no answer
  std::string body;
  std::string content_type;
  std::optional<int> retry_after;  // seconds, as sent, when the header is an integer; see RetryDelay
  std::string error;               // "EOF", "dial tcp 10.0.0.1:6443: connection refused", "timed out after 30s", ...
  // No answer, but the server may have received the whole request and acted on it. False: it cannot have.
  bool maybe_done = false;
  bool connection_reset = false;
  bool ok() const { return status >= 200 && status < 300; }
};

// The longest that a server's Retry-After is obeyed. A larger value, from a mistaken proxy for instance, would leave
// the scheduler idle long after the server has recovered.
inline constexpr absl::Duration kMaxRetryDelay = absl::Seconds(30);

// Returns how long to wait before repeating a request that was answered with 429 or a status of 500 and above and an
// integer Retry-After: at most kMaxRetryDelay. Returns nothing for every other answer.
std::optional<absl::Duration> RetryDelay(const Reply& reply);

// A streamed answer. on_head comes first, once, with the status (the body is still empty); then on_data as often as
// there is data, each piece valid only during the call; then on_end once. A status outside 2xx is delivered whole: then
// on_head has the body too (cut at 1 MiB) and on_end follows. When no answer comes only on_end is called.
struct StreamHandlers {
  std::function<void(const Reply& head)> on_head;
  std::function<void(std::string_view data)> on_data;
  // error empty: the body ended as it should; else "EOF", "unexpected EOF", "idle for 630s", ...
  std::function<void(const std::string& error)> on_end;
};

// A stream in progress; destroying it cancels it, and no handler is called any more.
class Stream {
 public:
  virtual ~Stream() = default;
};

struct StreamOptions {
  absl::Duration head_timeout = absl::Seconds(60);  // from the call to the first byte of the answer
  // Longest silence within the body; finds connections whose other end is gone without a word.
  absl::Duration idle_timeout = absl::Seconds(60);
};

// What talks to a server; tests put their own in its place.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  // Calls `done` exactly once, never inside this call; not at all when the client is destroyed before.
  virtual void Do(Request request, std::function<void(Reply)> done) = 0;
  virtual std::unique_ptr<Stream> Open(Request request, StreamOptions options, StreamHandlers handlers) = 0;
  // From now on shows this client certificate on new connections; those made with another one end when nothing is in
  // flight on them. PEM; both empty: none. An error leaves everything as it is.
  virtual absl::Status UseCertificate(std::string cert_pem, std::string key_pem) {
    (void)cert_pem;
    (void)key_pem;
    return absl::OkStatus();
  }
};

// Blocks until the answer is there. From any thread but the I/O thread, while that runs.
Reply DoBlocking(Executor* executor, HttpClient* client, Request request);

struct HttpOptions {
  std::string host;  // a name or an address, IPv6 without brackets
  uint16_t port = 80;
  std::string peer = "the server";                     // who that is, for log lines: "the API server"
  std::optional<TlsOptions> tls;                       // absent: plain http
  std::optional<ProxyServer> proxy;                    // asked for a tunnel (https), or for the answer (http)
  absl::Duration dial_timeout = absl::Seconds(30);     // resolving and connecting
  absl::Duration tls_timeout = absl::Seconds(10);      // the handshake
  absl::Duration request_timeout = absl::Seconds(30);  // when the request names none
  absl::Duration idle_connection = absl::Seconds(90);  // an unused connection is closed after this
  int max_connections = 128;  // for ordinary requests; more wait their turn. Streams do not count
  // Shared by pipelined requests; more are opened while the server takes longer than a millisecond for each, since it
  // answers one request after another on a connection.
  int pipeline_connections = 4, slow_pipeline_connections = 32;
  size_t max_waiting = 200'000;  // requests without a connection; more fail at once
  int pipeline_depth = 128;      // requests in flight on each, at most
  // No more requests are put on a pipelined connection than the server answers there in about this time, so that what
  // a lost connection leaves in doubt stays small when the server is slow.
  absl::Duration pipeline_latency = absl::Seconds(5);
  size_t max_body_bytes = 256u << 20;  // of an answer that is not streamed; a larger one is an error
};

// The headers to send with a request, each ended by CRLF, as the caller wants them at this moment.
using HeaderSource = std::function<std::string_view()>;

// The real one, over sockets. An error means the TLS settings are bad: it names the setting and why.
absl::StatusOr<std::unique_ptr<HttpClient>> NewHttpClient(AsioExecutor* executor, HttpOptions options,
                                                          HeaderSource headers = {});

}  // namespace berth::http
