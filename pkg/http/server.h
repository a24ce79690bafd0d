// An HTTP/1.1 and 1.0 server with keep-alive, pipelining, chunked bodies, streamed responses and TLS.
//
// Everything runs on the one thread that runs the io_context. Handlers are called there, must not block, and may answer
// later. The responses to pipelined requests are written together, in order. Every connection is bounded in the bytes
// of a request, of its header, and of what waits for a slow reader, and in the time without progress. If there are too
// many connections, the one that has been idle longest is closed in favour of the new one, so that many idle clients
// cannot keep a health probe out. A few more are accepted from the local machine.
#pragma once
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/http/tls.h"

namespace boost::asio {
class io_context;
}

namespace berth::http {

struct ServerRequest {
  std::string method;       // as sent: "GET"
  std::string path, query;  // as sent, without '?'; has_query distinguishes "/x?" from "/x"
  bool has_query = false;
  int version = 11;  // 10 for HTTP/1.0
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  size_t bytes = 0;                    // the size of method, target, header and body together
  std::optional<Subject> certificate;  // the subject of the client's verified certificate
  bool loopback = false;               // the client's address is a loopback address

  // Returns the value of the first header with that name, ignoring case; "" if there is none.
  std::string_view Header(std::string_view name) const;
  // Returns the token of "Authorization: Bearer TOKEN", or nothing if there is no such header. The case of the scheme
  // does not matter (RFC 7235).
  std::optional<std::string_view> BearerToken() const;
};

// A piece of a streamed response as HTTP/1.1 sends it: size line, data, CRLF. Connections may share a chunk.
using Chunk = std::shared_ptr<const std::string>;
Chunk MakeChunk(std::string_view data);
// Returns the data of a chunk, for HTTP/1.0 clients, which do not understand chunks.
std::string_view ChunkData(const std::string& chunk);

// The destination of a streamed response: a connection.
class StreamWriter {
 public:
  virtual ~StreamWriter() = default;
  virtual void Send(const Chunk& chunk) = 0;
  // Ends the response properly; no more chunks follow.
  virtual void Finish() = 0;
};

// The source of a streamed response. The connection destroys it when the client has disconnected or was cut off.
class StreamSource {
 public:
  virtual ~StreamSource() = default;
  // Called once, when the head of the response is written. `writer` stays valid as long as the source exists.
  virtual void Start(StreamWriter* writer) = 0;
};

struct ServerResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool no_sniff = false;                 // X-Content-Type-Options: nosniff
  bool gzip = false;                     // the body may be compressed if the client accepts that
  std::function<void(size_t)> sends;     // if set, called with the number of bytes of the body when it is sent
  std::shared_ptr<StreamSource> stream;  // if set, the response is streamed and `body` is ignored
};

class ServerConnection;

// Answers one request. Copies refer to the same request. To be used on the server's thread only.
class Responder {
 public:
  Responder(std::shared_ptr<ServerConnection> connection, uint64_t request)
      : connection_(std::move(connection)), request_(request) {}
  // Sends the response. Further calls for the same request, and responses to a client that has disconnected, are
  // dropped.
  void Send(ServerResponse response) const;

 private:
  std::shared_ptr<ServerConnection> connection_;
  uint64_t request_;
};

// Handles a request. `request` stays valid until it is answered, and at least until the handler returns. Every request
// must be answered eventually.
using ServerHandler = std::function<void(const ServerRequest& request, Responder answer)>;

struct ServerOptions {
  size_t request_bytes = size_t{64} << 20;  // a larger body is answered with 413
  size_t header_bytes = size_t{1} << 20;
  // The most bytes that may wait for a client that reads its stream too slowly, in addition to what the stream began
  // with. A client that exceeds this is cut off.
  size_t stream_bytes = size_t{64} << 20;
  size_t max_connections = 0;  // see above; 0: limited by file descriptors only
  size_t local_reserve = 0;    // further connections for clients on the local machine
  // A connection is closed after this time without progress, that is without having sent a whole request or without
  // reading its response. Streams, and requests that the handler has not answered yet, do not count.
  absl::Duration idle = absl::InfiniteDuration();
};

// Counters. Thread-safety: may be read from any thread.
struct ServerStats {
  std::atomic<size_t> connections{0};    // open now
  std::atomic<uint64_t> refused{0};      // closed at once because there were too many and none was idle
  std::atomic<uint64_t> displaced{0};    // closed while idle to make room for another
  std::atomic<size_t> waiting_bytes{0};  // bytes of streams that clients have not received yet
  std::atomic<uint64_t> cut{0};          // streams that were cut off because the client read too slowly
};

class Server {
 public:
  // `name` is for log lines: "healthz server". `io` must outlive the server; connections live as long as it runs them.
  Server(boost::asio::io_context* io, std::string name, ServerOptions options);
  ~Server();  // stops accepting
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Starts to accept connections and returns the port; port 0 picks a free one. `address` is an IP address. If `tls` is
  // not null, connections use TLS, and it must outlive the server. An error names address and port.
  absl::StatusOr<uint16_t> Listen(const std::string& address, uint16_t port, boost::asio::ssl::context* tls,
                                  ServerHandler handler);
  const ServerStats& stats() const;

  struct Shared;  // the state that connections share

 private:
  class Acceptor;
  std::shared_ptr<Shared> shared_;
  std::vector<std::shared_ptr<Acceptor>> acceptors_;
};

// Returns the reason phrase of a status: "Not Found" for 404.
std::string_view ReasonPhrase(int status);

// Returns a 404 response as Go's http.NotFound writes it.
ServerResponse NotFoundPage();

}  // namespace berth::http
