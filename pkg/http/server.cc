// Accepting connections and choosing which one to close when there are too many. Connections themselves are in
// server_connection.cc.
//
// Invariant: `Shared::watched` is ordered by the time of the last progress, oldest first, because a connection moves to
// the end with each progress. So both the sweep for idle connections and the search for one to displace begin at its
// front.
#include "pkg/http/server.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>
#include <glog/logging.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "pkg/http/server_connection.h"
#include "pkg/http/url.h"
#include "pkg/util/status.h"

namespace berth::http {
namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using util::ToAbsl;

std::string_view ServerRequest::Header(std::string_view name) const {
  for (const auto& [n, value] : headers) {
    if (absl::EqualsIgnoreCase(n, ToAbsl(name))) return value;
  }
  return {};
}

std::optional<std::string_view> ServerRequest::BearerToken() const {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view value = Header("Authorization");
  if (!absl::StartsWithIgnoreCase(ToAbsl(value), ToAbsl(kBearer))) return std::nullopt;
  const absl::string_view token = absl::StripAsciiWhitespace(ToAbsl(value.substr(kBearer.size())));
  return std::string_view(token.data(), token.size());
}

Chunk MakeChunk(std::string_view data) {
  return std::make_shared<const std::string>(absl::StrCat(absl::Hex(data.size()), "\r\n", ToAbsl(data), "\r\n"));
}

std::string_view ChunkData(const std::string& chunk) {
  std::string_view s = chunk;
  s.remove_prefix(s.find('\n') + 1);
  s.remove_suffix(2);
  return s;
}

// Accepts connections on one address.
class Server::Acceptor : public std::enable_shared_from_this<Server::Acceptor> {
 public:
  Acceptor(std::shared_ptr<Shared> shared, asio::ssl::context* tls, ServerHandler handler)
      : shared_(std::move(shared)),
        acceptor_(*shared_->io),
        pause_(*shared_->io),
        sweep_(*shared_->io),
        tls_(tls),
        handler_(std::make_shared<const ServerHandler>(std::move(handler))) {}

  absl::StatusOr<uint16_t> Open(const std::string& address, uint16_t port) {
    const std::string where = HostPort(address, port);
    error_code ec;
    const auto ip = asio::ip::make_address(address, ec);
    if (ec)
      return util::InvalidArgument(
          absl::StrCat("cannot listen on ", address, ":", port, ": \"", address, "\" is not an IP address"));
    const tcp::endpoint endpoint(ip, port);
    acceptor_.open(endpoint.protocol(), ec);
    if (!ec) acceptor_.set_option(tcp::acceptor::reuse_address(true), ec);
    if (!ec) acceptor_.bind(endpoint, ec);
    if (!ec) acceptor_.listen(asio::socket_base::max_listen_connections, ec);
    if (ec)
      return util::Unavailable(absl::StrCat("cannot listen on ", where, ": ", absl::AsciiStrToLower(ec.message())));
    return acceptor_.local_endpoint().port();
  }

  void Accept() {
    acceptor_.async_accept([self = shared_from_this()](const error_code& ec, tcp::socket socket) {
      if (ec == asio::error::operation_aborted) return;
      if (ec) {
        // Usually there is no file descriptor left, and one may become free soon.
        LOG(WARNING) << "Cannot accept a connection to the " << self->shared_->name << ": " << ec.message();
        if (self->shared_->options.max_connections > 0) self->MakeRoom();
        self->pause_.expires_after(std::chrono::milliseconds(100));
        self->pause_.async_wait([self](const error_code& cancelled) {
          if (!cancelled) self->Accept();
        });
        return;
      }
      self->Take(std::move(socket));
      self->Accept();
    });
  }

  void SweepLater() {
    if (shared_->options.idle == absl::InfiniteDuration()) return;
    sweep_.expires_after(absl::ToChronoNanoseconds(shared_->options.idle / 8));
    sweep_.async_wait([self = shared_from_this()](const error_code& cancelled) {
      if (cancelled) return;
      const absl::Time limit = absl::Now() - self->shared_->options.idle;
      auto& watched = self->shared_->watched;
      while (!watched.empty() && watched.front()->progress() < limit) watched.front()->Close();
      self->SweepLater();
    });
  }

  void Stop() {
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
    sweep_.cancel();
  }

 private:
  // Returns whether the client is on this host: connected over loopback, or over one of the host's own addresses, as
  // the kubelet probes a pod that uses the host's network.
  static bool Local(const tcp::socket& socket) {
    error_code no_peer, no_local;
    const auto peer = socket.remote_endpoint(no_peer).address(), local = socket.local_endpoint(no_local).address();
    return !no_peer && !no_local && (peer.is_loopback() || peer == local);
  }

  // Local clients may exceed the limit by the reserve, so that probes from this host get in even when remote clients
  // hold all other connections.
  void Take(tcp::socket socket) {
    const ServerOptions& o = shared_->options;
    const bool local = Local(socket);
    const size_t limit = o.max_connections + (local ? o.local_reserve : 0);
    if (o.max_connections > 0 && shared_->stats.connections >= limit && !MakeRoom()) {
      ++shared_->stats.refused;
      return;
    }
    std::make_shared<ServerConnection>(std::move(socket), shared_, handler_, local)->Start(tls_);
  }

  // Closes the connection that has been idle longest, preferring clients on other hosts. Returns false if none is idle.
  bool MakeRoom() {
    ServerConnection* longest = nullptr;
    for (ServerConnection* c : shared_->watched) {
      if (!c->idle()) continue;
      if (longest == nullptr) longest = c;
      if (c->local()) continue;
      longest = c;
      break;
    }
    if (longest == nullptr) return false;
    ++shared_->stats.displaced;
    longest->Close();
    return true;
  }

  std::shared_ptr<Shared> shared_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_, sweep_;
  asio::ssl::context* tls_;
  std::shared_ptr<const ServerHandler> handler_;
};

Server::Server(asio::io_context* io, std::string name, ServerOptions options)
    : shared_(std::make_shared<Shared>(io, std::move(name), options)) {}

Server::~Server() {
  for (auto& a : acceptors_) a->Stop();
}

absl::StatusOr<uint16_t> Server::Listen(const std::string& address, uint16_t port, asio::ssl::context* tls,
                                        ServerHandler handler) {
  auto acceptor = std::make_shared<Acceptor>(shared_, tls, std::move(handler));
  auto bound = acceptor->Open(address, port);
  if (!bound.ok()) return bound;
  acceptor->Accept();
  if (acceptors_.empty()) acceptor->SweepLater();
  acceptors_.push_back(std::move(acceptor));
  return bound;
}

const ServerStats& Server::stats() const {
  return shared_->stats;
}

std::string_view ReasonPhrase(int status) {
  static constexpr std::pair<int, std::string_view> kPhrases[] = {
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {304, "Not Modified"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {406, "Not Acceptable"},
      {409, "Conflict"},
      {410, "Gone"},
      {413, "Request Entity Too Large"},
      {415, "Unsupported Media Type"},
      {422, "Unprocessable Entity"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
  };
  for (const auto& [code, phrase] : kPhrases) {
    if (code == status) return phrase;
  }
  return "Status";
}

ServerResponse NotFoundPage() {
  ServerResponse r;
  r.status = 404;
  r.body = "404 page not found\n";
  r.no_sniff = true;
  return r;
}

}  // namespace berth::http
