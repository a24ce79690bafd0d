// The daemon's own HTTP server: small pages, one thread.
#pragma once
#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace berth::kube_scheduler {

struct HttpRequest {
  std::string method, path, query;  // the target split at '?'; has_query tells "?" alone from nothing
  bool has_query = false;
  bool accepts_gzip = false;
  size_t bytes = 0;           // of the method, the target, the header and the body
  std::string authorization;  // the header
  std::string client_name;    // CommonName of a verified client certificate
  std::string client_groups;  // its organisations, separated by ','
};

struct HttpResponse {
  int status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
  bool no_sniff = false;
  bool gzip = false;  // may be compressed when the client accepts that
  // Told, if there, how many bytes the body has as it is sent.
  std::function<void(size_t)> sends;
};

using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

struct ServerTls {
  std::string cert_pem, key_pem;
  std::string client_ca_pem;  // client certificates are asked for, and verified when shown; empty: not asked for
  std::string cert_from, key_from, client_ca_from;  // for errors: "--tls-cert-file: /etc/tls.crt"
};

class HttpServer {
 public:
  // `name` is for log lines: "healthz". The handler is called on the server's thread and must not block for long.
  // `address` is host:port; port 0 takes any free one.
  HttpServer(std::string name, std::string address, HttpHandler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  // Before Start. An error: what is no certificate or key, and where it is from.
  absl::Status UseTls(const ServerTls& tls);
  // Serves in the background. An address that cannot be had is tried again every 5 s, for ever, with an error line.
  void Start();
  // What is served, once it is: with the real port.
  std::string address() const;
  struct Stats {
    std::string name;
    size_t connections;  // open now; at most 256, more are closed at once
    uint64_t refused;    // so far
  };
  Stats stats() const;  // from any thread

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// 404 as Go's http.NotFound writes it.
HttpResponse NotFoundPage();

}  // namespace berth::kube_scheduler
