#include "cmd/kube-scheduler/http_server.h"

#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <utility>

#include "cmd/kube-scheduler/component_config.h"
#include "pkg/util/status.h"

namespace berth::kube_scheduler {

http::ServerOptions PageLimits() {
  http::ServerOptions o;
  o.request_bytes = 8 << 20;  // pods to be simulated are posted
  o.header_bytes = 64 << 10;
  o.stream_bytes = 16 << 20;  // room for several lists of all nodes, which the page streams
  o.max_connections = 256;
  o.local_reserve = 32;
  o.idle = absl::Seconds(60);
  return o;
}

HttpServer::HttpServer(http::EventLoop* loop, std::string name, std::string serving, std::string address,
                       http::ServerHandler handler)
    : loop_(loop),
      name_(std::move(name)),
      serving_text_(std::move(serving)),
      address_(std::move(address)),
      handler_(std::move(handler)),
      server_(loop->io(), name_ + " server", PageLimits()) {}

HttpServer::~HttpServer() {
  const std::string serving = address();
  if (!serving.empty() && serving_text_.starts_with("Serving")) LOG(INFO) << "Stopped listening on " << serving;
}

absl::Status HttpServer::UseTls(const http::ServerTls& tls) {
  auto context = http::NewServerTlsContext(tls);
  if (!context.ok()) return context.status();
  tls_ = *std::move(context);
  return absl::OkStatus();
}

void HttpServer::Start() {
  loop_->executor()->Post([this] { Listen(); });
}

void HttpServer::Listen() {
  const auto hp = SplitHostPort(address_);
  if (!hp) return Failed("invalid address");
  if (hp->host.empty()) return Bind("0.0.0.0");
  lookup_.emplace(loop_->io(), hp->host, [this](const std::string& error, const std::vector<std::string>& addresses) {
    if (error.empty()) {
      Bind(addresses.front());
    } else {
      Failed(error);
    }
  });
}

void HttpServer::Bind(const std::string& ip) {
  const auto hp = SplitHostPort(address_);
  const auto port =
      server_.Listen(ip, static_cast<uint16_t>(std::strtoul(hp->port.c_str(), nullptr, 10)), tls_.get(), handler_);
  if (!port.ok()) return Failed(util::Message(port.status()));
  const std::string serving = JoinHostPort(hp->host, absl::StrCat(*port));
  {
    std::lock_guard lock(mutex_);
    serving_ = serving;
  }
  LOG(INFO) << serving_text_ << " " << serving;
}

void HttpServer::Failed(const std::string& why) {
  LOG(ERROR) << "failed to start " << name_ << " server: listen tcp " << address_ << ": " << why;
  loop_->executor()->After(absl::Seconds(5), [this] { Listen(); });
}

std::string HttpServer::address() const {
  std::lock_guard lock(mutex_);
  return serving_;
}

}  // namespace berth::kube_scheduler
