#include "pkg/apiserver/http_server.h"

#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>
#include <absl/time/time.h>
#include <glog/logging.h>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <deque>

#include "pkg/util/status.h"

namespace berth::apiserver {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

struct HttpServer::Shared {
  asio::io_context* io;
  Api* api;
  Store* store;
  HttpLimits limits;

  // "Date: ...\r\n", made once a second.
  const std::string& DateLine() {
    int64_t now = absl::ToUnixSeconds(absl::Now());
    if (now != date_second) {
      date_second = now;
      date = absl::StrCat(
          "Date: ", absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", absl::FromUnixSeconds(now), absl::UTCTimeZone()),
          "\r\n");
    }
    return date;
  }
  int64_t date_second = 0;
  std::string date;

  // What /metrics tells, beside what the store knows.
  size_t connections = 0;
  size_t waiting_bytes = 0;  // of events, for all watchers
  uint64_t watchers_cut = 0;
  HttpResponse Metrics() const;
};

HttpResponse HttpServer::Shared::Metrics() const {
  HttpResponse page;
  page.content_type = "text/plain; version=0.0.4";
  const auto family = [&](const char* name, const char* type, const char* help) {
    absl::StrAppend(&page.body, "# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n");
  };
  const auto by_resource = [&](const char* name, const char* help, auto value) {
    family(name, "gauge", help);
    for (const ResourceInfo& r : store->catalog().resources()) {
      absl::StrAppend(&page.body, name, "{resource=\"", std::string(r.resource), "\"} ", value(r), "\n");
    }
  };
  by_resource("etcd_object_counts", "Number of stored objects.", [&](const ResourceInfo& r) { return store->size(r); });
  by_resource("apiserver_registered_watchers", "Number of open watches.",
              [&](const ResourceInfo& r) { return store->listeners(r); });
  by_resource("hollow_watch_history_events", "Number of changes kept for watchers that come late.",
              [&](const ResourceInfo& r) { return store->Window(r).size(); });
  by_resource("hollow_watch_history_limit_events", "Number of changes from which on the oldest are forgotten.",
              [&](const ResourceInfo& r) { return store->window_size(r); });
  const auto one = [&](const char* name, const char* type, const char* help, uint64_t value) {
    family(name, type, help);
    absl::StrAppend(&page.body, name, " ", value, "\n");
  };
  one("hollow_connections", "gauge", "Number of open connections.", connections);
  one("hollow_watch_waiting_bytes", "gauge", "Bytes of events that wait for watchers to read them.", waiting_bytes);
  one("hollow_watch_waiting_limit_bytes", "gauge", "How much may wait for one watcher, beyond what it began with.",
      limits.watch_bytes);
  one("hollow_watchers_cut_total", "counter", "Number of watchers that were cut for reading too slowly.", watchers_cut);
  return page;
}

namespace {

using Parser = http::request_parser<http::string_body>;
using TlsStream = asio::ssl::stream<tcp::socket>;

tcp::socket& Lowest(tcp::socket& s) {
  return s;
}
tcp::socket& Lowest(TlsStream& s) {
  return s.next_layer();
}

std::string ViewOf(boost::beast::string_view s) {
  return std::string(s.data(), s.size());
}

// The user that a verified client certificate names: CN is the name, each O a group.
std::optional<User> CertificateUser(TlsStream& stream) {
  X509* certificate = SSL_get1_peer_certificate(stream.native_handle());
  if (certificate == nullptr) return std::nullopt;
  User user;
  X509_NAME* subject = X509_get_subject_name(certificate);
  auto each = [&](int nid, auto f) {
    for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, nid, at)) >= 0;) {
      ASN1_STRING* text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));
      f(std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                    static_cast<size_t>(ASN1_STRING_length(text))));
    }
  };
  each(NID_commonName, [&](std::string s) { user.name = std::move(s); });
  each(NID_organizationName, [&](std::string s) { user.groups.push_back(std::move(s)); });
  X509_free(certificate);
  if (user.name.empty()) return std::nullopt;
  return user;
}

// One connection. Alive as long as an operation holds it.
template <typename Stream>
class Connection final : public std::enable_shared_from_this<Connection<Stream>>, public WatchSink {
 public:
  Connection(Stream stream, std::shared_ptr<HttpServer::Shared> shared, const Gate* gate)
      : stream_(std::move(stream)), shared_(std::move(shared)), gate_(gate), timer_(*shared_->io) {
    ++shared_->connections;
  }
  ~Connection() {
    --shared_->connections;
    shared_->waiting_bytes -= queued_bytes_;
  }

  void Start() {
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      stream_.async_handshake(TlsStream::server, [self = this->shared_from_this()](error_code ec) {
        if (ec) {
          VLOG(2) << "TLS handshake failed: " << ec.message();
          return;
        }
        self->certificate_ = CertificateUser(self->stream_);
        self->Begin();
      });
    } else {
      Begin();
    }
  }

  // ---- WatchSink: called by the watch, on our thread ----
  void Send(const Frame& frame) override {
    if (closed_) return;
    queued_bytes_ += frame->size();
    shared_->waiting_bytes += frame->size();
    queue_.push_back(frame);
    if (watch_ != nullptr && queued_bytes_ > allowed_bytes_) {
      LOG(WARNING) << "A watcher reads too slowly and is cut: " << queued_bytes_ << " bytes wait for " << Peer();
      // Not at once: the store is calling us.
      ++shared_->watchers_cut;
      closed_ = true;
      queue_.clear();
      asio::post(*shared_->io, [self = this->shared_from_this()] { self->Close(); });
      return;
    }
    FlushLater();
  }
  void Finish() override {
    finished_ = true;
    FlushLater();
  }

 private:
  std::string Peer() {
    error_code ec;
    auto peer = Lowest(stream_).remote_endpoint(ec);
    return ec ? std::string("a client that has gone") : absl::StrCat(peer.address().to_string(), ":", peer.port());
  }

  void Begin() {
    NewParser();
    Read();
  }

  void NewParser() {
    parser_.emplace();
    parser_->eager(true);
    parser_->body_limit(shared_->limits.request_bytes);
    parser_->header_limit(static_cast<uint32_t>(shared_->limits.header_bytes));
    continued_ = false;
  }

  void Read() {
    if (reading_ || closed_) return;
    reading_ = true;
    constexpr size_t kReadSize = 64 * 1024;
    stream_.async_read_some(buffer_.prepare(kReadSize), [self = this->shared_from_this()](error_code ec, size_t n) {
      self->reading_ = false;
      if (ec) {
        self->peer_closed_ = true;
        // Answers under way are still delivered to a client that only closed its side.
        if (self->writing_ && !self->Streaming()) return;
        self->Close();
        return;
      }
      self->buffer_.commit(n);
      if (self->Streaming() || self->waiting_) {
        // A client may send its next request early; it has its turn when the stream ends.
        constexpr size_t kEarlyBytes = 1 << 20;
        if (self->buffer_.size() < kEarlyBytes) self->Read();
        return;
      }
      self->Process();
    });
  }

  bool Streaming() const { return watch_ != nullptr || finished_; }

  // Takes requests out of the buffer as long as they are whole, then writes all their answers.
  void Process() {
    constexpr size_t kFlushSize = 256 * 1024;
    while (!close_after_write_ && !Streaming() && !waiting_ && out_.size() < kFlushSize) {
      error_code ec;
      while (buffer_.size() > 0 && !parser_->is_done()) {
        size_t used = parser_->put(buffer_.data(), ec);
        buffer_.consume(used);
        if (ec || used == 0) break;
      }
      if (ec == http::error::need_more) ec = {};
      if (ec) {
        Malformed(ec);
        break;
      }
      if (!parser_->is_done()) {
        if (parser_->is_header_done() && !continued_ && parser_->get()[http::field::expect] == "100-continue") {
          continued_ = true;
          out_ += "HTTP/1.1 100 Continue\r\n\r\n";
        }
        break;
      }
      HandleRequest(false);
    }
    if (!out_.empty()) {
      Write();
    } else if (!Streaming() && !waiting_) {
      Read();
    }
  }

  void Malformed(error_code ec) {
    VLOG(1) << "Malformed HTTP from " << Peer() << ": " << ec.message();
    int status = ec == http::error::body_limit ? 413 : 400;
    std::string text = absl::StrCat(status, " ", std::string(ReasonPhrase(status)));
    absl::StrAppend(&out_, "HTTP/1.1 ", text,
                    "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: ", text.size(),
                    "\r\n\r\n", text);
    close_after_write_ = true;
  }

  void HandleRequest(bool last_try) {
    const auto& message = parser_->get();
    HttpRequest request;
    request.method = ViewOf(message.method_string());
    std::string target = ViewOf(message.target());
    if (size_t scheme = target.find("://"); !target.starts_with('/') && scheme != std::string::npos) {
      size_t slash = target.find('/', scheme + 3);
      target = slash == std::string::npos ? "/" : target.substr(slash);
    }
    size_t question = target.find('?');
    if (question != std::string::npos) request.query = target.substr(question + 1);
    request.path = target.substr(0, question);
    request.accept = ViewOf(message[http::field::accept]);
    request.content_type = ViewOf(message[http::field::content_type]);
    request.user_agent = ViewOf(message[http::field::user_agent]);
    request.authorization = ViewOf(message[http::field::authorization]);
    request.body = message.body();
    bool keep_alive = message.keep_alive();
    bool old = message.version() == 10;
    if (!old && message.count(http::field::host) == 0) {
      out_ +=
          "HTTP/1.1 400 Bad Request: missing required Host header\r\nContent-Type: text/plain; charset=utf-8\r\n"
          "Connection: close\r\n\r\n400 Bad Request: missing required Host header";
      close_after_write_ = true;
      return;
    }
    VLOG(3) << request.method << " " << target;

    std::optional<HttpResponse> refusal;
    if (gate_ != nullptr) {
      refusal = gate_->Refuse(request, certificate_);
      request.allowed = [&](const RequestInfo& what) { return gate_->Allows(request, certificate_, what); };
    }
    HttpResponse response = refusal.has_value()          ? *std::move(refusal)
                            : request.path == "/metrics" ? shared_->Metrics()
                                                         : shared_->api->Handle(request, last_try);
    if (response.wait && !last_try) {
      waiting_ = true;
      timer_.expires_after(std::chrono::milliseconds(shared_->limits.wait_milliseconds));
      timer_.async_wait([self = this->shared_from_this()](error_code ec) {
        if (ec || self->closed_) return;
        self->waiting_ = false;
        self->HandleRequest(true);
        self->Process();
      });
      return;
    }
    AppendHead(response, old, keep_alive);
    if (response.watch.has_value()) {
      StartWatch(*response.watch, old, keep_alive);
    } else if (request.method != "HEAD") {
      out_ += response.body;
    }
    if (!keep_alive && !Streaming()) close_after_write_ = true;
    if (!Streaming()) NewParser();
  }

  void AppendHead(const HttpResponse& r, bool old, bool keep_alive) {
    absl::StrAppend(&out_, old ? "HTTP/1.0 " : "HTTP/1.1 ", r.status, " ", std::string(ReasonPhrase(r.status)),
                    "\r\nContent-Type: ", r.content_type, "\r\n", shared_->DateLine());
    for (const auto& [name, value] : r.headers) absl::StrAppend(&out_, name, ": ", value, "\r\n");
    if (!r.watch.has_value()) {
      absl::StrAppend(&out_, "Content-Length: ", r.body.size(), "\r\n");
    } else if (!old) {
      out_ += "Transfer-Encoding: chunked\r\n";
    }
    if (!keep_alive && !old) out_ += "Connection: close\r\n";
    if (keep_alive && old && !r.watch.has_value()) out_ += "Connection: keep-alive\r\n";
    out_ += "\r\n";
  }

  // ---- watches ----

  void StartWatch(WatchStart& start, bool old, bool keep_alive) {
    unchunked_ = old;
    close_after_stream_ = old || !keep_alive;
    watch_ = std::make_unique<Watch>(shared_->store, start.resource, start.version, std::move(start.selector), this);
    allowed_bytes_ = SIZE_MAX;
    bool running = watch_->Start(start.from);
    allowed_bytes_ = queued_bytes_ + shared_->limits.watch_bytes;
    if (running && start.timeout_seconds > 0) {
      timer_.expires_after(std::chrono::seconds(start.timeout_seconds));
      timer_.async_wait([self = this->shared_from_this()](error_code ec) {
        if (ec || self->closed_ || self->watch_ == nullptr) return;
        self->watch_.reset();
        self->Finish();
      });
    }
    if (!running) watch_.reset();
    NewParser();
    Read();  // to hear of a client that hangs up
  }

  void FlushLater() {
    if (flush_posted_ || writing_) return;
    flush_posted_ = true;
    asio::post(*shared_->io, [self = this->shared_from_this()] {
      self->flush_posted_ = false;
      if (!self->writing_ && !self->closed_) self->Write();
    });
  }

  // ---- writing ----

  void Write() {
    if (writing_ || closed_) return;
    std::vector<asio::const_buffer> buffers;
    writing_text_.clear();
    writing_text_.swap(out_);
    if (!writing_text_.empty()) buffers.push_back(asio::buffer(writing_text_));
    constexpr size_t kMostFrames = 64;  // more buffers than this a system call would not take at once
    while (!queue_.empty() && writing_frames_.size() < kMostFrames) {
      writing_frames_.push_back(std::move(queue_.front()));
      queue_.pop_front();
      std::string_view text =
          unchunked_ ? FramePayload(*writing_frames_.back()) : std::string_view(*writing_frames_.back());
      buffers.push_back(asio::buffer(text.data(), text.size()));
    }
    if (finished_ && queue_.empty()) {
      static constexpr std::string_view kEnd = "0\r\n\r\n";
      if (!unchunked_) buffers.push_back(asio::buffer(kEnd.data(), kEnd.size()));
      finished_ = false;
      if (close_after_stream_) close_after_write_ = true;
    }
    if (buffers.empty()) {
      if (close_after_write_) Close();
      return;
    }
    writing_ = true;
    asio::async_write(stream_, buffers, [self = this->shared_from_this()](error_code ec, size_t) {
      self->writing_ = false;
      for (const Frame& f : self->writing_frames_) {
        self->queued_bytes_ -= f->size();
        self->shared_->waiting_bytes -= f->size();
      }
      self->writing_frames_.clear();
      if (ec) {
        self->Close();
        return;
      }
      self->Written();
    });
  }

  void Written() {
    if (!out_.empty() || !queue_.empty() || finished_) {
      Write();
      return;
    }
    if (close_after_write_ || (peer_closed_ && !Streaming())) {
      Close();
      return;
    }
    if (Streaming() || waiting_) return;
    if (buffer_.size() > 0) {
      Process();
    } else {
      Read();
    }
  }

  void Close() {
    closed_ = true;
    watch_.reset();
    queue_.clear();
    timer_.cancel();
    error_code ignored;
    Lowest(stream_).shutdown(tcp::socket::shutdown_both, ignored);
    Lowest(stream_).close(ignored);
  }

  Stream stream_;
  std::shared_ptr<HttpServer::Shared> shared_;
  const Gate* gate_;
  asio::steady_timer timer_;  // of a watch's end, or of a wait for a resource version
  std::optional<User> certificate_;

  beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  bool reading_ = false, writing_ = false, waiting_ = false, closed_ = false, peer_closed_ = false;
  bool continued_ = false, close_after_write_ = false;

  std::string out_, writing_text_;  // answers: to be written, being written
  std::unique_ptr<Watch> watch_;
  std::deque<Frame> queue_;
  std::vector<Frame> writing_frames_;
  size_t queued_bytes_ = 0,  // in queue_ and writing_frames_
      allowed_bytes_ = SIZE_MAX;
  bool unchunked_ = false, close_after_stream_ = false, finished_ = false, flush_posted_ = false;
};

}  // namespace

class HttpServer::Acceptor : public std::enable_shared_from_this<HttpServer::Acceptor> {
 public:
  Acceptor(std::shared_ptr<Shared> shared, asio::ssl::context* tls, const Gate* gate)
      : shared_(std::move(shared)), acceptor_(*shared_->io), pause_(*shared_->io), tls_(tls), gate_(gate) {}

  absl::StatusOr<uint16_t> Open(const std::string& address, uint16_t port) {
    std::string where = absl::StrCat(address, ":", port);
    error_code ec;
    auto ip = asio::ip::make_address(address, ec);
    if (ec)
      return util::InvalidArgument(absl::StrCat("cannot listen on ", where, ": ", Quote(address), " is no IP address"));
    tcp::endpoint endpoint(ip, port);
    acceptor_.open(endpoint.protocol(), ec);
    if (!ec) acceptor_.set_option(tcp::acceptor::reuse_address(true), ec);
    if (!ec) acceptor_.bind(endpoint, ec);
    if (!ec) acceptor_.listen(asio::socket_base::max_listen_connections, ec);
    if (ec) return util::Unavailable(absl::StrCat("cannot listen on ", where, ": ", ec.message()));
    return acceptor_.local_endpoint().port();
  }

  void Accept() {
    acceptor_.async_accept([self = shared_from_this()](error_code ec, tcp::socket socket) {
      if (ec == asio::error::operation_aborted) return;
      if (ec) {
        // Most likely no file descriptor is left; the next may be free soon.
        LOG(WARNING) << "Cannot accept a connection: " << ec.message();
        self->pause_.expires_after(std::chrono::milliseconds(100));
        self->pause_.async_wait([self](error_code cancelled) {
          if (!cancelled) self->Accept();
        });
        return;
      }
      {
        error_code ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        if (self->tls_ != nullptr) {
          std::make_shared<Connection<TlsStream>>(TlsStream(std::move(socket), *self->tls_), self->shared_, self->gate_)
              ->Start();
        } else {
          std::make_shared<Connection<tcp::socket>>(std::move(socket), self->shared_, self->gate_)->Start();
        }
      }
      self->Accept();
    });
  }

  void Stop() {
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
  }

 private:
  std::shared_ptr<Shared> shared_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  asio::ssl::context* tls_;
  const Gate* gate_;
};

HttpServer::HttpServer(asio::io_context* io, Api* api, Store* store, HttpLimits limits)
    : shared_(std::make_shared<Shared>(Shared{io, api, store, limits, 0, ""})) {}

HttpServer::~HttpServer() {
  for (auto& a : acceptors_) a->Stop();
}

absl::StatusOr<uint16_t> HttpServer::Listen(const std::string& address, uint16_t port, asio::ssl::context* tls,
                                            const Gate* gate) {
  auto acceptor = std::make_shared<Acceptor>(shared_, tls, gate);
  auto bound = acceptor->Open(address, port);
  if (!bound.ok()) return bound;
  acceptor->Accept();
  acceptors_.push_back(std::move(acceptor));
  return bound;
}

}  // namespace berth::apiserver
