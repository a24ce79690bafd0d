// A connection goes through lookup, connect, and, as needed, TLS to the proxy, a CONNECT tunnel and TLS to the server.
// One timer limits each of these steps. After OnOpen() there is always one read in progress and at most one write.
//
// Invariant: `in_flight_` holds the exchanges in the order in which their requests were appended to `out_`, which is
// the order of the responses. The written ones are in front. Handlers of asynchronous operations hold a shared_ptr to
// the connection and return at once if it is closed.
#include "pkg/http/client_connection.h"

#include <absl/strings/str_cat.h>
#include <glog/logging.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/beast/http/error.hpp>
#include <cctype>
#include <cstring>

#include "pkg/http/tls.h"
#include "pkg/util/status.h"

namespace berth::http {
namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr size_t kLargestBuffer = 1 << 20, kLargestProxyHead = 64 << 10;

// Returns the size of the receive buffer of a new connection, and of one that is idle. An ordinary response fits into
// the smaller one; others come many at a time.
size_t FirstBuffer(Connection::Use use) {
  return use == Connection::Use::kOrdinary ? 4 << 10 : 16 << 10;
}

std::string Address(const HttpOptions& o) {
  return HostPort(o.host, o.port);
}

// Returns the value of the Host header. Like Go, it leaves out the default port.
std::string HostHeader(const HttpOptions& o) {
  const std::string all = Address(o);
  return o.port == (o.tls ? 443 : 80) ? all.substr(0, all.rfind(':')) : all;
}

// Returns "dial tcp 10.0.0.1:6443", or the corresponding text for a proxy.
std::string Dial(const HttpOptions& o) {
  if (!o.proxy) return absl::StrCat("dial tcp ", Address(o));
  return absl::StrCat("proxyconnect tcp: dial tcp ", HostPort(o.proxy->host, o.proxy->port));
}

std::string ProxyHeaders(const ProxyServer& p) {
  if (p.credentials.empty()) return "";
  return absl::StrCat("Proxy-Authorization: ", BasicAuthorization(p.credentials), "\r\n");
}

// Returns a system error in Go's words, which operators search for.
std::string SystemError(const boost::system::error_code& ec) {
  if (ec == asio::error::connection_refused) return "connection refused";
  if (ec == asio::error::connection_reset) return "connection reset by peer";
  if (ec == asio::error::broken_pipe) return "broken pipe";
  if (ec == asio::error::host_not_found || ec == asio::error::host_not_found_try_again) return "no such host";
  std::string text = ec.message();
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace

Connection::Connection(asio::io_context* io, ConnectionOwner* owner, Use u)
    : use(u), io_(io), owner_(owner), host_(HostHeader(owner->options())), dial_timer_(*io) {}

void Connection::Connect() {
  const HttpOptions& o = owner_->options();
  auto self = shared_from_this();
  dial_timer_.expires_after(absl::ToChronoNanoseconds(o.dial_timeout));
  dial_timer_.async_wait([self](const Error& ec) {
    if (ec || self->open_ || self->closed_) return;
    if (self->dialing_tls_) {
      self->Close("net/http: TLS handshake timeout");
    } else {
      self->Close(absl::StrCat(Dial(self->owner_->options()), ": i/o timeout"));
    }
  });
  lookup_.emplace(io_, o.proxy ? o.proxy->host : o.host,
                  [self](const std::string& error, const std::vector<std::string>& addresses) {
                    if (self->closed_) return;
                    if (!error.empty()) {
                      self->Close(absl::StrCat("dial tcp: ", error));
                    } else {
                      self->ConnectTo(addresses);
                    }
                  });
}

void Connection::ConnectTo(const std::vector<std::string>& addresses) {
  const HttpOptions& o = owner_->options();
  std::vector<tcp::endpoint> endpoints;
  for (const std::string& a : addresses) {
    endpoints.emplace_back(asio::ip::make_address(a), o.proxy ? o.proxy->port : o.port);
  }
  dialing_.emplace(*io_);
  // The socket is opened here only to learn why that fails, usually because no descriptor is left; async_connect would
  // not report it.
  Error cannot_open;
  dialing_->open(endpoints.front().protocol(), cannot_open);
  if (cannot_open) {
    Close(absl::StrCat(Dial(owner_->options()), ": socket: ", SystemError(cannot_open)));
    return;
  }
  asio::async_connect(*dialing_, endpoints, [self = shared_from_this()](const Error& ec, const tcp::endpoint&) {
    if (self->closed_) return;
    if (ec) {
      self->Close(absl::StrCat(Dial(self->owner_->options()), ": connect: ", SystemError(ec)));
    } else {
      self->OnConnected();
    }
  });
}

// Makes sure that a peer that has vanished is noticed within a minute, whether or not we have something to send.
void Connection::SetSocketOptions() {
  Error ignored;
  tcp::socket& socket = transport_->socket();
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  int fd = socket.native_handle(), idle = 30, interval = 10, count = 3, unacknowledged_ms = 60'000;
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged_ms, sizeof unacknowledged_ms);
}

void Connection::OnConnected() {
  transport_ = NewTcpTransport(*std::move(dialing_));
  dialing_.reset();
  SetSocketOptions();
  const HttpOptions& o = owner_->options();
  if (o.proxy && owner_->proxy_tls() != nullptr) {
    Handshake(owner_->proxy_tls(), TlsOptions{}, o.proxy->host, &Connection::BehindProxy);
  } else {
    BehindProxy();
  }
}

// Called when the connection to the server, or to its proxy, is established.
void Connection::BehindProxy() {
  const HttpOptions& o = owner_->options();
  if (owner_->tls() == nullptr) {
    OnOpen();
  } else if (o.proxy) {
    OpenTunnel();
  } else {
    Handshake(owner_->tls(), *o.tls, o.host, &Connection::OnOpen);
  }
}

void Connection::OpenTunnel() {
  const HttpOptions& o = owner_->options();
  sending_ =
      absl::StrCat("CONNECT ", Address(o), " HTTP/1.1\r\nHost: ", Address(o), "\r\n", ProxyHeaders(*o.proxy), "\r\n");
  const asio::const_buffer request = asio::buffer(sending_);
  transport_->Write({&request, 1}, [self = shared_from_this()](const Error& ec, size_t) {
    if (self->closed_) return;
    if (ec) {
      self->Close(absl::StrCat("proxyconnect tcp: ", SystemError(ec)));
      return;
    }
    self->sending_.clear();
    self->in_.resize(kLargestProxyHead);
    self->ReadTunnelAnswer();
  });
}

// Nothing can follow the head of the proxy's response, because a TLS server sends nothing before the handshake.
void Connection::ReadTunnelAnswer() {
  if (end_ == in_.size()) {
    Close("proxyconnect tcp: the proxy's answer header is too long");
    return;
  }
  transport_->ReadSome(asio::buffer(in_.data() + end_, in_.size() - end_),
                       [self = shared_from_this()](const Error& ec, size_t n) {
                         if (self->closed_) return;
                         if (ec) {
                           const bool eof = ec == asio::error::eof || ec == asio::ssl::error::stream_truncated;
                           self->Close(absl::StrCat("proxyconnect tcp: ", eof ? "EOF" : SystemError(ec)));
                           return;
                         }
                         self->end_ += n;
                         const std::string head = self->in_.substr(0, self->end_);
                         if (head.find("\r\n\r\n") == std::string::npos) {
                           self->ReadTunnelAnswer();
                           return;
                         }
                         self->end_ = 0;
                         const std::string line = head.substr(0, head.find('\r'));
                         const std::string status = line.substr(std::min(line.size(), line.find(' ') + 1));
                         if (!line.starts_with("HTTP/1.") || !status.starts_with("200")) {
                           self->Close(absl::StrCat("proxyconnect tcp: the proxy answers ", status));
                           return;
                         }
                         const HttpOptions& o = self->owner_->options();
                         self->Handshake(self->owner_->tls(), *o.tls, o.host, &Connection::OnOpen);
                       });
}

void Connection::Handshake(asio::ssl::context* context, const TlsOptions& options, const std::string& host,
                           void (Connection::*next)()) {
  auto self = shared_from_this();
  dialing_tls_ = true;
  dial_timer_.expires_after(absl::ToChronoNanoseconds(owner_->options().tls_timeout));
  dial_timer_.async_wait([self](const Error& ec) {
    if (!ec && !self->open_ && !self->closed_) self->Close("net/http: TLS handshake timeout");
  });
  std::unique_ptr<TlsTransport> tls = NewTlsTransport(std::move(transport_), context);
  TlsTransport* const raw = tls.get();
  transport_ = std::move(tls);
  PrepareTls(raw->ssl(), options, host);
  raw->Handshake(TlsTransport::Role::kClient, [self, raw, next](const Error& ec) {
    if (self->closed_) return;
    if (ec) {
      ForgetSession(raw->ssl(), ec);
      self->Close(TlsError(raw->ssl(), ec));
    } else {
      (self.get()->*next)();
    }
  });
}

void Connection::OnOpen() {
  open_ = true;
  dial_timer_.cancel();
  in_.resize(FirstBuffer(use));
  Read();
  FlushWaiting();
}

// The request is composed at once, with the headers of this moment, but written only when the connection is open and
// the previous write has finished. Requests that were appended meanwhile go out in one write, and so do those that
// others append to a pipelined connection in the same function.
void Connection::Send(ExchangePtr e) {
  const Request& r = *e->request;
  const HttpOptions& o = owner_->options();
  used_ = true;
  e->written = false;
  e->connection = weak_from_this();
  const bool through_proxy = o.proxy && !o.tls;
  absl::StrAppend(&out_, util::ToAbsl(MethodName(r.method)), " ", through_proxy ? "http://" : "",
                  through_proxy ? host_ : "", r.target, " HTTP/1.1\r\nHost: ", host_, "\r\n",
                  util::ToAbsl(owner_->Headers()));
  if (through_proxy) out_ += ProxyHeaders(*o.proxy);
  if (r.accepts_gzip && o.compression) out_ += "Accept-Encoding: gzip\r\n";
  if (!r.body.empty()) absl::StrAppend(&out_, "Content-Type: ", util::ToAbsl(r.content_type), "\r\n");
  if (!r.body.empty() || r.method != Method::kGet) absl::StrAppend(&out_, "Content-Length: ", r.body.size(), "\r\n");
  out_ += "\r\n";
  out_ += r.body;
  in_flight_.push_back(std::move(e));
  if (!open_) return;
  use == Use::kPipeline ? FlushNext() : Flush();
}

void Connection::FlushNext() {
  if (writing_ || std::exchange(flushes_next_, true)) return;
  owner_->RunNext([self = shared_from_this()] {
    self->flushes_next_ = false;
    self->FlushWaiting();
  });
}

// Sends the requests that have waited for the connection or for the write before them. If one of them must not be sent
// any more, the connection is closed instead, and the pool decides what to do with each.
void Connection::FlushWaiting() {
  for (auto it = in_flight_.rbegin(); it != in_flight_.rend() && !(*it)->written; ++it) {
    const Exchange& e = **it;
    if (e.over || !e.request->may_send || e.request->may_send()) continue;
    Close(std::string(kNotSent));
    return;
  }
  Flush();
}

void Connection::Flush() {
  if (writing_ || out_.empty() || closed_) return;
  writing_ = true;
  sending_.clear();
  sending_.swap(out_);
  for (auto it = in_flight_.rbegin(); it != in_flight_.rend() && !(*it)->written; ++it) (*it)->written = true;
  asio::const_buffer rest = asio::buffer(sending_);
  rest += transport_->WriteNow(rest);
  if (rest.size() == 0) {
    writing_ = false;
    return;
  }
  auto sent = [self = shared_from_this()](const Error& ec, size_t) {
    self->writing_ = false;
    if (self->closed_) return;
    if (!ec) {
      self->FlushWaiting();
      return;
    }
    // The server may have sent a response before it closed the connection, so the error is left to the reading side.
    if (ec == asio::error::broken_pipe || ec == asio::error::connection_reset) return;
    self->Close(absl::StrCat("write tcp ", Address(self->owner_->options()), ": ", SystemError(ec)));
  };
  transport_->Write({&rest, 1}, sent);
}

void Connection::Read() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (end_ == in_.size()) {
    if (begin_ > 0) {
      std::memmove(in_.data(), in_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    } else if (in_.size() < kLargestBuffer) {
      in_.resize(in_.size() * 2);
    } else {
      Close("net/http: the server's answer header is too long");
      return;
    }
  }
  auto read = [self = shared_from_this()](const Error& ec, size_t n) { self->OnRead(ec, n); };
  transport_->ReadSome(asio::buffer(in_.data() + end_, in_.size() - end_), read);
}

void Connection::OnRead(const Error& ec, size_t n) {
  if (closed_) return;
  end_ += n;
  bool filled = end_ == in_.size();
  if (n > 0) Parse();
  if (closed_) return;
  if (ec) {
    if (ec == asio::error::eof || ec == asio::ssl::error::stream_truncated) {
      OnEof();
    } else {
      Close(absl::StrCat("read tcp ", Address(owner_->options()), ": read: ", SystemError(ec)),
            ec == asio::error::connection_reset);
    }
    return;
  }
  if (in_flight_.empty() && begin_ == end_) {
    ReleaseBuffers();
  } else if (filled && begin_ == end_ && in_.size() < kLargestBuffer / 4) {
    // The stream filled the buffer, so a larger one needs fewer system calls.
    begin_ = end_ = 0;
    in_.resize(in_.size() * 2);
  }
  Read();
}

// Any callback may close this connection, so `closed_` is checked after each. Responses with status 1xx precede the
// real one and are skipped.
void Connection::Parse() {
  auto self = shared_from_this();
  while (begin_ < end_ && !closed_) {
    if (in_flight_.empty()) {
      Close("net/http: the server sent an unsolicited response");
      return;
    }
    ExchangePtr e = in_flight_.front();
    if (!parser_) {
      e->reply = Reply{};
      parser_.emplace(&e->reply, &e->on_body, e->stream ? UINT64_MAX : owner_->options().max_body_bytes);
    }
    Error ec;
    bool had_head = parser_->head_done();
    size_t used = parser_->put(asio::buffer(in_.data() + begin_, end_ - begin_), ec);
    if (closed_) return;  // a handler has cancelled the stream
    begin_ += used;
    if (!had_head && parser_->head_done() && e->reply.status >= 200) {
      // OnHead may cancel the exchange.
      if (!e->head_told && !e->over) owner_->OnHead(e);
      if (closed_) return;
    }
    if (ec == boost::beast::http::error::need_more) return;
    if (ec == boost::beast::http::error::body_limit) {
      Close(absl::StrCat("the answer is larger than ", owner_->options().max_body_bytes, " bytes"));
      return;
    }
    if (ec) {
      Close(absl::StrCat("net/http: HTTP/1.x transport connection broken: malformed HTTP response: ", ec.message()));
      return;
    }
    if (!parser_->is_done()) continue;
    bool interim = e->reply.status < 200;
    bool keep = parser_->keep_alive();
    parser_.reset();
    if (interim) continue;
    in_flight_.pop_front();
    last_answer_ = !keep;
    owner_->OnAnswer(e);
    if (closed_) return;
    if (last_answer_) {
      Close("EOF");
      return;
    }
    if (in_flight_.empty()) owner_->OnIdle(self);
  }
}

// There may be many idle connections after a moment in which the server was slow. REQUIRES: nothing is being read.
void Connection::ReleaseBuffers() {
  const size_t most = FirstBuffer(use);
  if (in_.capacity() > most) {
    in_ = std::string(most, '\0');
    begin_ = end_ = 0;
  }
  if (out_.capacity() > most) out_ = std::string();
  if (writing_) return;
  if (sending_.capacity() > most) sending_ = std::string();
  // There are few other connections, and they are used again soon.
  if (use == Use::kOrdinary) transport_->ReleaseBuffers();
}

void Connection::OnEof() {
  if (parser_ && parser_->head_done()) {
    // A response without a length ends with the connection.
    Error ec;
    parser_->put_eof(ec);
    if (!ec && parser_->is_done()) {
      ExchangePtr e = in_flight_.front();
      in_flight_.pop_front();
      parser_.reset();
      last_answer_ = true;
      owner_->OnAnswer(e);
      if (closed_) return;
      Close("EOF");
      return;
    }
    Close("unexpected EOF");
    return;
  }
  Close(parser_ && begin_ < end_ ? "unexpected EOF" : "EOF");
}

// Exchanges in flight are handed to the owner together, in order, since what may be retried depends on their positions.
void Connection::Close(const std::string& error, bool reset) {
  if (closed_) return;
  closed_ = true;
  Error ignored;
  dial_timer_.cancel();
  lookup_.reset();
  if (dialing_) dialing_->close(ignored);
  if (transport_ != nullptr) transport_->Close();
  bool answered_some = parser_.has_value();
  if (owner_ == nullptr) return;
  owner_->OnClosed(shared_from_this(), std::exchange(in_flight_, {}), error, reset, answered_some, last_answer_);
}

void Connection::Abandon() {
  owner_ = nullptr;
  in_flight_.clear();
  Close("");
}

}  // namespace berth::http
