// The daemon's own HTTP servers: small pages on one thread, which never waits for anything.
#pragma once
#include <absl/status/status.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "pkg/http/event_loop.h"
#include "pkg/http/lookup.h"
#include "pkg/http/server.h"
#include "pkg/http/tls.h"

namespace berth::kube_scheduler {

using HttpRequest = http::ServerRequest;
using HttpResponse = http::ServerResponse;
using http::NotFoundPage;

// Returns the limits of every page server: few connections, closed after a minute without progress, with a reserve for
// clients on this machine such as the kubelet's probe.
http::ServerOptions PageLimits();

// One address with its pages. Created and destroyed while the loop is not running, or from any thread before Start.
class HttpServer {
 public:
  // `name` is for log lines and metrics: "healthz". `serving` is what the log says before the address:
  // "starting healthz server on". The handler is called on the loop's thread and must not block; it may answer later.
  // `address` is host:port; port 0 takes any free one.
  HttpServer(http::EventLoop* loop, std::string name, std::string serving, std::string address,
             http::ServerHandler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Before Start. An error: what is no certificate or key, and where it is from.
  absl::Status UseTls(const http::ServerTls& tls);
  // On the loop's thread, when UseTls was called: see http::SetClientAuthorities.
  absl::Status SetClientAuthorities(const std::string& pem) { return http::SetClientAuthorities(tls_.get(), pem); }
  // Serves on the loop. An address that cannot be had is tried again every 5 s, for ever, with an error line.
  void Start();
  // What is served, once it is: with the real port. From any thread.
  std::string address() const;
  const std::string& name() const { return name_; }
  const http::ServerStats& stats() const { return server_.stats(); }  // from any thread

 private:
  void Listen();
  void Bind(const std::string& ip);
  void Failed(const std::string& why);

  http::EventLoop* loop_;
  const std::string name_, serving_text_, address_;
  http::ServerHandler handler_;
  std::unique_ptr<boost::asio::ssl::context> tls_;
  http::Server server_;
  std::optional<http::Lookup> lookup_;
  mutable std::mutex mutex_;
  std::string serving_;  // under mutex_
};

}  // namespace berth::kube_scheduler
