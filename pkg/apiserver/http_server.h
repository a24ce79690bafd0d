// Serves the API over HTTP: passes the requests of pkg/http's server to the Api, and its responses and watches back.
//
// Everything runs on the one thread that runs the io_context. The buffer of a watcher that reads too slowly is bounded;
// when it is full, the connection is closed and the client resumes from the last version it has seen. /metrics, this
// server's own page, shows how much is waiting and how many watchers were cut off.
#pragma once
#include <absl/status/statusor.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <string>

#include "pkg/apiserver/gate.h"
#include "pkg/apiserver/rest.h"
#include "pkg/http/server.h"
#include "pkg/store/store.h"

namespace berth::apiserver {

struct HttpLimits {
  size_t request_bytes = size_t{64} << 20;  // a larger body is answered with 413
  size_t header_bytes = size_t{1} << 20;
  size_t watch_bytes = size_t{64} << 20;  // waiting for one watcher, beyond what its watch began with
  int64_t wait_milliseconds = 3000;       // how long a request waits for a resource version that does not exist yet
};

class HttpServer {
 public:
  // `io`, `api` and `store` must outlive the server. Connections live as long as the io_context runs them.
  HttpServer(boost::asio::io_context* io, Api* api, Store* store, HttpLimits limits = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Starts to accept connections and returns the port; port 0 picks a free one. If `tls` is not null, the listener uses
  // TLS; if `gate` is not null, it allows or rejects each request. An error names address and port.
  absl::StatusOr<uint16_t> Listen(const std::string& address, uint16_t port, boost::asio::ssl::context* tls,
                                  const Gate* gate);

 private:
  void Handle(const http::ServerRequest& request, const Gate* gate, http::Responder answer, bool last_try);
  http::ServerResponse ToResponse(HttpResponse response);
  HttpResponse Metrics() const;

  boost::asio::io_context* io_;
  Api* api_;
  Store* store_;
  const HttpLimits limits_;
  http::Server server_;
};

}  // namespace berth::apiserver
