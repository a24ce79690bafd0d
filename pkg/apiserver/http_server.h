// The API over HTTP: what comes in through pkg/http's server is handed to the Api, and its answers and watches go back.
//
// Everything runs on the one thread that runs the io_context. A watcher that reads too slowly has a bounded buffer;
// when it is full the connection is cut, and the client begins again from the last version it saw. What waits, and what
// was cut, is shown at /metrics, which is this server's own page.
#pragma once
#include <absl/status/statusor.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <string>

#include "pkg/apiserver/gate.h"
#include "pkg/apiserver/rest.h"
#include "pkg/apiserver/store.h"
#include "pkg/http/server.h"

namespace berth::apiserver {

struct HttpLimits {
  size_t request_bytes = size_t{64} << 20;  // a larger body is answered with 413
  size_t header_bytes = size_t{1} << 20;
  size_t watch_bytes = size_t{64} << 20;  // waiting for one slow watcher, beyond what it began with
  int64_t wait_milliseconds = 3000;       // for a resource version that is not there yet
};

class HttpServer {
 public:
  // All must outlive the server; connections live as long as the io_context runs them.
  HttpServer(boost::asio::io_context* io, Api* api, Store* store, HttpLimits limits = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Begins to accept; port 0 picks a free one. Returns the port. The error names address and port.
  // With `tls` the listener speaks TLS; with `gate` it asks the gate for each request.
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
