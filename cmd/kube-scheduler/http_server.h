// The daemon's HTTP servers: small pages on one thread that never blocks.
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

// Returns the limits of every page server: few connections, which are closed after a minute without progress, and a
// reserve for clients on this host such as the kubelet's probe.
http::ServerOptions PageLimits();

// One address with its pages. Created and destroyed while the loop is not running, or on any thread before Start().
class HttpServer {
 public:
  // `name` is for log lines and metrics: "healthz". `serving` precedes the address in the log: "starting healthz server
  // on". `handler` is called on the loop's thread, must not block, and may answer later. `address` is host:port; port 0
  // picks any free one.
  HttpServer(http::EventLoop* loop, std::string name, std::string serving, std::string address,
             http::ServerHandler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Serves TLS. An error says what is not a certificate or key, and where it comes from. To be called before
  // Start().
  absl::Status UseTls(const http::ServerTls& tls);
  // See http::SetClientAuthorities. To be called on the loop's thread, after UseTls().
  absl::Status SetClientAuthorities(const std::string& pem) { return http::SetClientAuthorities(tls_.get(), pem); }
  // Serves on the loop. If the address is not available, logs an error and tries again every 5 s.
  void Start();
  // Returns the address with the real port once it is being served. May be called from any thread.
  std::string address() const;
  const std::string& name() const { return name_; }
  const http::ServerStats& stats() const { return server_.stats(); }  // may be called from any thread

 private:
  void Listen();
  void Bind(const std::string& ip);
  void Failed(const std::string& why);

  http::EventLoop* loop_;
  const std::string name_, serving_text_, address_;
  http::ServerHandler handler_;
  http::TlsContext tls_;
  http::Server server_;
  std::optional<http::Lookup> lookup_;
  mutable std::mutex mutex_;
  std::string serving_;  // guarded by mutex_
};

}  // namespace berth::kube_scheduler
