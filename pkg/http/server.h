// An HTTP/1.1 (and 1.0) server: keep-alive, pipelining, chunked bodies, streamed answers, TLS.
//
// Everything runs on the one thread that runs the io_context; handlers are called there, must not block, and may answer
// later. Answers of pipelined requests are written together, in order. Every connection is bounded: bytes of a request,
// of its header, of what waits for a slow reader, and the time without progress. When there are too many connections,
// the one that has been idle longest makes room for the new one, so that no crowd of idle clients can keep a health
// probe out; a few more are accepted from this machine.
#pragma once
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/http/tls.h"

namespace berth::http {

struct ServerRequest {
  std::string method;       // as sent: "GET"
  std::string path, query;  // as sent, without '?'; has_query tells "/x?" from "/x"
  bool has_query = false;
  int version = 11;  // 10 for HTTP/1.0
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  size_t bytes = 0;                    // of method, target, header and body together
  std::optional<Subject> certificate;  // of the client's verified certificate
  bool loopback = false;               // the client's address is a loopback address

  // Returns the value of the first header of that name, in any letter case; "" when there is none.
  std::string_view Header(std::string_view name) const;
  // Returns the token of "Authorization: Bearer TOKEN" (the scheme in any letter case, as RFC 7235 has it); nothing
  // when there is no such header.
  std::optional<std::string_view> BearerToken() const;
};

// A piece of a streamed answer as HTTP/1.1 sends it: size line, data, CRLF. Many connections may share one.
using Chunk = std::shared_ptr<const std::string>;
Chunk MakeChunk(std::string_view data);
// Returns the data of a chunk, for HTTP/1.0 clients, who know no chunks.
std::string_view ChunkData(const std::string& chunk);

// Where a streamed answer goes: a connection.
class StreamWriter {
 public:
  virtual ~StreamWriter() = default;
  virtual void Send(const Chunk& chunk) = 0;
  // No more will come; the answer ends in order.
  virtual void Finish() = 0;
};

// Where a streamed answer comes from. The connection destroys it when the client has gone or was cut off.
class StreamSource {
 public:
  virtual ~StreamSource() = default;
  // Called once, when the head of the answer is written. The writer stays valid as long as the source exists.
  virtual void Start(StreamWriter* writer) = 0;
};

struct ServerResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool no_sniff = false;                 // X-Content-Type-Options: nosniff
  bool gzip = false;                     // the body may be compressed when the client accepts that
  std::function<void(size_t)> sends;     // when set, called with the number of bytes of the body as it is sent
  std::shared_ptr<StreamSource> stream;  // when set, the answer is streamed, and `body` is not looked at
};

class ServerConnection;

// Answers one request; copies are for the same request. On the server's thread only.
class Responder {
 public:
  Responder(std::shared_ptr<ServerConnection> connection, uint64_t request)
      : connection_(std::move(connection)), request_(request) {}
  // The first answer counts; later ones, and answers to a client that has gone, are dropped.
  void Send(ServerResponse response) const;

 private:
  std::shared_ptr<ServerConnection> connection_;
  uint64_t request_;
};

// The request stays valid until it is answered, and at least until the handler returns. Every request must be answered
// some time.
using ServerHandler = std::function<void(const ServerRequest& request, Responder answer)>;

struct ServerOptions {
  size_t request_bytes = size_t{64} << 20;  // a larger body is answered with 413
  size_t header_bytes = size_t{1} << 20;
  // What may wait for a client that reads its stream too slowly, beyond what the stream began with; then it is cut off.
  size_t stream_bytes = size_t{64} << 20;
  size_t max_connections = 0;  // see above; 0: as many as there are descriptors
  size_t local_reserve = 0;    // connections from this machine beyond max_connections
  // A connection without progress for this long is closed: without a whole request, or without reading its answer.
  // Streams and requests that the handler has not answered yet do not count.
  absl::Duration idle = absl::InfiniteDuration();
};

// Counters, readable from any thread.
struct ServerStats {
  std::atomic<size_t> connections{0};    // open now
  std::atomic<uint64_t> refused{0};      // closed at once, because there were too many and none was idle
  std::atomic<uint64_t> displaced{0};    // closed while idle, to make room for another
  std::atomic<size_t> waiting_bytes{0};  // of streams, not yet taken by the clients
  std::atomic<uint64_t> cut{0};          // streams cut off for reading too slowly
};

class Server {
 public:
  // `name` is for log lines: "healthz server". The context must outlive the server; connections live as long as it runs
  // them.
  Server(boost::asio::io_context* io, std::string name, ServerOptions options);
  ~Server();  // stops accepting
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Begins to accept; port 0 picks a free one. `address` is an IP address. With `tls`, which must outlive the server,
  // TLS is spoken. Returns the port; the error names address and port.
  absl::StatusOr<uint16_t> Listen(const std::string& address, uint16_t port, boost::asio::ssl::context* tls,
                                  ServerHandler handler);
  const ServerStats& stats() const;

  struct Shared;  // what connections need of the server

 private:
  class Acceptor;
  std::shared_ptr<Shared> shared_;
  std::vector<std::shared_ptr<Acceptor>> acceptors_;
};

// "Not Found" for 404.
std::string_view ReasonPhrase(int status);

// 404 as Go's http.NotFound writes it.
ServerResponse NotFoundPage();

}  // namespace berth::http
