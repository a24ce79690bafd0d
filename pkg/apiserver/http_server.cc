// Connects the generic HTTP server with the API. A response may be an immediate one, one that is retried after a wait
// (for a resource version that does not exist yet), or a watch, which is a stream.
#include "pkg/apiserver/http_server.h"

#include <absl/strings/str_cat.h>

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <utility>

namespace berth::apiserver {
namespace {

namespace asio = boost::asio;

// Sends a watch as the body of a response.
class WatchSource final : public http::StreamSource, public WatchSink {
 public:
  WatchSource(asio::io_context* io, Store* store, WatchStart start)
      : store_(store), start_(std::move(start)), timer_(*io) {}

  void Start(http::StreamWriter* writer) override {
    writer_ = writer;
    watch_ = std::make_unique<Watch>(store_, start_.resource, start_.version, std::move(start_.selector), this);
    if (!watch_->Start(start_.from)) {
      watch_.reset();
      return;
    }
    if (start_.timeout_seconds <= 0) return;
    timer_.expires_after(std::chrono::seconds(start_.timeout_seconds));
    timer_.async_wait([this](const boost::system::error_code& cancelled) {
      if (cancelled) return;
      watch_.reset();
      writer_->Finish();
    });
  }
  void Send(const Frame& frame) override { writer_->Send(frame); }
  void Finish() override { writer_->Finish(); }

 private:
  Store* store_;
  WatchStart start_;
  asio::steady_timer timer_;  // ends the watch
  http::StreamWriter* writer_ = nullptr;
  std::unique_ptr<Watch> watch_;
};

http::ServerOptions OptionsFor(const HttpLimits& limits) {
  http::ServerOptions o;
  o.request_bytes = limits.request_bytes;
  o.header_bytes = limits.header_bytes;
  o.stream_bytes = limits.watch_bytes;
  return o;
}

// Returns the user that a verified client certificate names: CN is the name, and each O is a group.
std::optional<User> CertificateUser(const http::ServerRequest& request) {
  if (!request.certificate) return std::nullopt;
  return User{request.certificate->common_name, request.certificate->organizations};
}

}  // namespace

HttpResponse HttpServer::Metrics() const {
  HttpResponse page;
  page.content_type = "text/plain; version=0.0.4";
  const auto family = [&](const char* name, const char* type, const char* help) {
    absl::StrAppend(&page.body, "# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n");
  };
  const auto by_resource = [&](const char* name, const char* help, auto value) {
    family(name, "gauge", help);
    for (const ResourceInfo& r : store_->catalog().resources()) {
      absl::StrAppend(&page.body, name, "{resource=\"", std::string(r.resource), "\"} ", value(r), "\n");
    }
  };
  by_resource("etcd_object_counts", "Number of stored objects.",
              [&](const ResourceInfo& r) { return store_->size(r); });
  by_resource("apiserver_registered_watchers", "Number of open watches.",
              [&](const ResourceInfo& r) { return store_->listeners(r); });
  by_resource("hollow_watch_history_events", "Number of changes kept for watchers that come late.",
              [&](const ResourceInfo& r) { return store_->Window(r).size(); });
  by_resource("hollow_watch_history_limit_events", "Number of changes beyond which the oldest are forgotten.",
              [&](const ResourceInfo& r) { return store_->window_size(r); });
  const auto one = [&](const char* name, const char* type, const char* help, uint64_t value) {
    family(name, type, help);
    absl::StrAppend(&page.body, name, " ", value, "\n");
  };
  one("hollow_connections", "gauge", "Number of open connections.", server_.stats().connections);
  one("hollow_watch_waiting_bytes", "gauge", "Bytes of events that wait for watchers to read them.",
      server_.stats().waiting_bytes);
  one("hollow_watch_waiting_limit_bytes", "gauge", "How much may wait for one watcher, beyond what it began with.",
      limits_.watch_bytes);
  one("hollow_watchers_cut_total", "counter", "Number of watchers that were cut off for reading too slowly.",
      server_.stats().cut);
  return page;
}

HttpServer::HttpServer(asio::io_context* io, Api* api, Store* store, HttpLimits limits)
    : io_(io), api_(api), store_(store), limits_(limits), server_(io, "API server", OptionsFor(limits)) {}

absl::StatusOr<uint16_t> HttpServer::Listen(const std::string& address, uint16_t port, asio::ssl::context* tls,
                                            const Gate* gate) {
  return server_.Listen(address, port, tls, [this, gate](const http::ServerRequest& r, http::Responder answer) {
    Handle(r, gate, std::move(answer), false);
  });
}

void HttpServer::Handle(const http::ServerRequest& r, const Gate* gate, http::Responder answer, bool last_try) {
  HttpRequest request;
  request.method = r.method;
  request.path = r.path;
  request.query = r.query;
  request.accept = r.Header("Accept");
  request.kubectl_command = r.Header("Kubectl-Command");
  request.impersonate = r.Header("Impersonate-User");
  request.content_type = r.Header("Content-Type");
  request.user_agent = r.Header("User-Agent");
  request.authorization = r.Header("Authorization");
  request.body = r.body;
  const std::optional<User> certificate = CertificateUser(r);
  std::optional<HttpResponse> refusal;
  if (gate != nullptr) {
    if (!last_try) refusal = gate->Refuse(request, certificate);
    request.allowed = [&](const RequestInfo& what) { return gate->Allows(request, certificate, what); };
    request.sender = [&] { return gate->SenderOf(request, certificate); };
  }
  HttpResponse response = refusal.has_value()          ? *std::move(refusal)
                          : request.path == "/metrics" ? Metrics()
                                                       : api_->Handle(request, last_try);
  if (!response.wait || last_try) {
    answer.Send(ToResponse(std::move(response)));
    return;
  }
  auto timer = std::make_shared<asio::steady_timer>(*io_, std::chrono::milliseconds(limits_.wait_milliseconds));
  // The responder keeps the request alive until then, so `r` stays valid.
  timer->async_wait([this, timer, &r, gate, answer](const boost::system::error_code& cancelled) {
    if (!cancelled) Handle(r, gate, answer, true);
  });
}

http::ServerResponse HttpServer::ToResponse(HttpResponse response) {
  http::ServerResponse r;
  r.status = response.status;
  r.content_type = std::move(response.content_type);
  r.headers = std::move(response.headers);
  r.body = std::move(response.body);
  if (response.watch) r.stream = std::make_shared<WatchSource>(io_, store_, *std::move(response.watch));
  return r;
}

}  // namespace berth::apiserver
