// One read and one write are in progress at most. Responses to pipelined requests are collected in `out_` and written
// together; a stream's chunks go through `queue_` and are written without being copied.
//
// Handlers and stream sources may call back while they are being called. Therefore streams are written and sources
// destroyed by a posted function, never inside their own calls; and the request object is kept until its handler has
// returned (in_handler_).
#include "pkg/http/server_connection.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>
#include <glog/logging.h>
#include <zlib.h>

#include <boost/asio/post.hpp>
#include <cstring>

#include "pkg/http/url.h"
#include "pkg/util/status.h"

namespace berth::http {
namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
using util::ToAbsl;

namespace {

constexpr size_t kReadSize = 64 << 10;
// of requests that a client sends before it has received the response to an earlier one
constexpr size_t kEarlyBytes = 1 << 20;
// responses to pipelined requests are written when this many bytes have been collected
constexpr size_t kFlushSize = 256 << 10;
constexpr size_t kMostChunks = 64;  // more buffers than this do not fit into one system call

// Returns the compressed text, or nothing if zlib cannot allocate memory; the text is then sent uncompressed.
std::string Gzip(const std::string& text) {
  z_stream z{};
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string out(deflateBound(&z, text.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  const int rc = deflate(&z, Z_FINISH);
  out.resize(rc == Z_STREAM_END ? z.total_out : 0);
  deflateEnd(&z);
  return out;
}

}  // namespace

const std::string& Server::Shared::DateLine() {
  const int64_t now = absl::ToUnixSeconds(absl::Now());
  if (now != date_second) {
    date_second = now;
    date = absl::StrCat(
        "Date: ", absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", absl::FromUnixSeconds(now), absl::UTCTimeZone()),
        "\r\n");
  }
  return date;
}

ServerConnection::ServerConnection(asio::ip::tcp::socket socket, std::shared_ptr<Server::Shared> shared,
                                   std::shared_ptr<const ServerHandler> handler, bool local)
    : shared_(std::move(shared)),
      handler_(std::move(handler)),
      transport_(NewTcpTransport(std::move(socket))),
      local_(local) {
  ++shared_->stats.connections;
  Touch();
}

ServerConnection::~ServerConnection() {
  Unwatch();
  stream_.reset();
  --shared_->stats.connections;
  shared_->stats.waiting_bytes -= queued_bytes_;
}

void ServerConnection::Start(asio::ssl::context* tls) {
  Error ignored;
  transport_->socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  Error no_peer;
  auto peer = transport_->socket().remote_endpoint(no_peer).address();
  if (peer.is_v6() && peer.to_v6().is_v4_mapped()) {
    peer = asio::ip::make_address_v4(asio::ip::v4_mapped, peer.to_v6());
  }
  loopback_ = !no_peer && peer.is_loopback();
  if (tls == nullptr) {
    Begin();
    return;
  }
  std::unique_ptr<TlsTransport> secure = NewTlsTransport(std::move(transport_), tls);
  TlsTransport* const raw = secure.get();
  transport_ = std::move(secure);
  raw->Handshake(TlsTransport::Role::kServer, [self = shared_from_this(), raw](const Error& ec) {
    if (self->closed_) return;
    if (ec) {
      VLOG(2) << "TLS handshake with " << self->Peer() << " failed: " << ec.message();
      self->Close();
      return;
    }
    self->certificate_ = VerifiedSubject(raw->ssl());
    self->Begin();
  });
}

std::string ServerConnection::Peer() {
  Error ec;
  const auto peer = transport_->socket().remote_endpoint(ec);
  return ec ? std::string("a client that has gone") : HostPort(peer.address().to_string(), peer.port());
}

void ServerConnection::Touch() {
  progress_ = absl::Now();
  if (watched_) {
    shared_->watched.splice(shared_->watched.end(), shared_->watched, *watched_);
  } else {
    watched_ = shared_->watched.insert(shared_->watched.end(), this);
  }
}

void ServerConnection::Unwatch() {
  if (watched_) shared_->watched.erase(*watched_);
  watched_.reset();
}

// ---- requests -----------------------------------------------------------------------------------

void ServerConnection::Begin() {
  NewRequest();
  Read();
}

void ServerConnection::NewRequest() {
  request_ = ServerRequest{};
  parser_.emplace(&request_, shared_->options);
  continued_ = false;
}

// Space is made at the end of the buffer, by moving the unused bytes to its front or by growing it, before each read.
void ServerConnection::Read() {
  if (reading_ || closed_) return;
  reading_ = true;
  if (begin_ == end_) begin_ = end_ = 0;
  if (in_.size() - end_ < kReadSize / 4) {
    if (begin_ > 0) std::memmove(in_.data(), in_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    if (in_.size() - end_ < kReadSize / 4) in_.resize(std::max(end_ * 2, kReadSize / 2));
  }
  transport_->ReadSome(asio::buffer(in_.data() + end_, in_.size() - end_),
                       [self = shared_from_this()](const Error& ec, size_t n) { self->OnRead(ec, n); });
}

void ServerConnection::OnRead(const Error& ec, size_t n) {
  reading_ = false;
  if (closed_) return;
  if (ec) {
    peer_closed_ = true;
    // A client that only closed its sending side still receives the responses that are in progress.
    if (!Streaming() && (writing_ || answering_)) return;
    Close();
    return;
  }
  end_ += n;
  if (Streaming() || answering_) {
    if (end_ - begin_ < kEarlyBytes) Read();
    return;
  }
  Process();
}

// Feeds the parser with what has been received. Returns true when a request is complete.
bool ServerConnection::Parse() {
  Error ec;
  while (begin_ < end_ && !parser_->is_done()) {
    const size_t used = parser_->put(asio::buffer(in_.data() + begin_, end_ - begin_), ec);
    begin_ += used;
    if (ec || used == 0) break;
  }
  if (ec && ec != beast_http::error::need_more) {
    Malformed(ec);
    return false;
  }
  if (parser_->is_done()) return true;
  if (parser_->is_header_done() && !continued_ &&
      absl::EqualsIgnoreCase(ToAbsl(request_.Header("Expect")), "100-continue")) {
    continued_ = true;
    out_ += "HTTP/1.1 100 Continue\r\n\r\n";
  }
  return false;
}

// Handles the requests in the buffer as long as they are complete, then writes all their responses.
void ServerConnection::Process() {
  while (!closed_ && !close_after_write_ && !Streaming() && !answering_ && out_.size() < kFlushSize && Parse())
    Handle();
  if (closed_) return;
  if (!out_.empty()) {
    Write();
  } else if (!Streaming() && !answering_) {
    Read();
  }
}

void ServerConnection::Refuse(int status, std::string_view text) {
  const std::string line = absl::StrCat(status, " ", ToAbsl(text));
  absl::StrAppend(&out_, "HTTP/1.1 ", line,
                  "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: ", line.size(),
                  "\r\n\r\n", line);
  close_after_write_ = true;
}

void ServerConnection::Malformed(const Error& ec) {
  VLOG(1) << "Malformed HTTP from " << Peer() << ": " << ec.message();
  switch (parser_->fault()) {
    case RequestParser::Fault::kTransferEncoding:
      return Refuse(501, "Not Implemented: unsupported transfer encoding");
    case RequestParser::Fault::kManyHosts:
      return Refuse(400, "Bad Request: too many Host headers");
    case RequestParser::Fault::kNone:
      const int status = ec == beast_http::error::body_limit ? 413 : ec == beast_http::error::header_limit ? 431 : 400;
      return Refuse(status, ReasonPhrase(status));
  }
}

void ServerConnection::Handle() {
  Touch();
  keep_alive_ = parser_->keep_alive();
  if (request_.version != 10 && request_.Header("Host").data() == nullptr) {
    out_ +=
        "HTTP/1.1 400 Bad Request: missing required Host header\r\nContent-Type: text/plain; charset=utf-8\r\n"
        "Connection: close\r\n\r\n400 Bad Request: missing required Host header";
    close_after_write_ = true;
    return;
  }
  VLOG(3) << request_.method << " " << request_.path << (request_.has_query ? "?" : "") << request_.query;
  request_.certificate = certificate_;
  request_.loopback = loopback_;
  answering_ = in_handler_ = true;
  (*handler_)(request_, Responder(shared_from_this(), ++number_));
  in_handler_ = false;
  if (closed_) return;
  if (answering_) {
    Unwatch();                                // the handler may take as long as it needs
    if (end_ - begin_ < kEarlyBytes) Read();  // to notice a client that disconnects
  } else {
    Answered();
  }
}

// Prepares for the next request. Must not be called before the handler has returned, which may still use the request.
void ServerConnection::Answered() {
  NewRequest();
  if (!Streaming()) return;
  FlushLater();
  Read();  // detects that the client disconnects
}

void Responder::Send(ServerResponse response) const {
  connection_->Answer(request_, std::move(response));
}

// `number` is that of the request that the response is for. A second response to a request, and one to an earlier
// request, are ignored.
void ServerConnection::Answer(uint64_t number, ServerResponse r) {
  if (closed_ || !answering_ || number != number_) return;
  answering_ = false;
  Touch();
  if (r.gzip && absl::StrContains(ToAbsl(request_.Header("Accept-Encoding")), "gzip")) {
    if (std::string packed = Gzip(r.body); !packed.empty()) {
      r.headers.emplace_back("Content-Encoding", "gzip");
      r.body = std::move(packed);
    }
  }
  if (r.sends) r.sends(r.body.size());
  AppendHead(r);
  if (!r.stream && request_.method != "HEAD") out_ += r.body;
  if (r.stream) {
    StartStream(std::move(r.stream));
  } else if (!keep_alive_) {
    close_after_write_ = true;
  }
  if (in_handler_) return;
  Answered();
  if (!Streaming()) Process();
}

void ServerConnection::AppendHead(const ServerResponse& r) {
  const bool old = request_.version == 10;
  absl::StrAppend(&out_, old ? "HTTP/1.0 " : "HTTP/1.1 ", r.status, " ", ToAbsl(ReasonPhrase(r.status)),
                  "\r\nContent-Type: ", r.content_type, "\r\n", shared_->DateLine());
  if (r.no_sniff) out_ += "X-Content-Type-Options: nosniff\r\n";
  for (const auto& [name, value] : r.headers) absl::StrAppend(&out_, name, ": ", value, "\r\n");
  if (!r.stream) {
    absl::StrAppend(&out_, "Content-Length: ", r.body.size(), "\r\n");
  } else if (!old) {
    out_ += "Transfer-Encoding: chunked\r\n";
  }
  if (!keep_alive_ && !old) out_ += "Connection: close\r\n";
  if (keep_alive_ && old && !r.stream) out_ += "Connection: keep-alive\r\n";
  out_ += "\r\n";
}

// ---- streams ------------------------------------------------------------------------------------

void ServerConnection::StartStream(std::shared_ptr<StreamSource> source) {
  Unwatch();
  unchunked_ = request_.version == 10;
  close_after_stream_ = unchunked_ || !keep_alive_;
  stream_ = std::move(source);
  allowed_bytes_ = SIZE_MAX;
  stream_->Start(this);
  allowed_bytes_ = queued_bytes_ + shared_->options.stream_bytes;
}

// While the stream starts, any amount may be queued; afterwards only `stream_bytes` more. So a client may begin with a
// long list and is cut off only if it then falls behind.
void ServerConnection::Send(const Chunk& chunk) {
  if (closed_) return;
  queued_bytes_ += chunk->size();
  shared_->stats.waiting_bytes += chunk->size();
  queue_.push_back(chunk);
  if (queued_bytes_ > allowed_bytes_) {
    LOG(WARNING) << "Closing a slow watch: " << queued_bytes_ << " bytes are queued for " << Peer();
    ++shared_->stats.cut;
    // The source is calling us, so the connection is closed later.
    asio::post(*shared_->io, [self = shared_from_this()] { self->Close(); });
    allowed_bytes_ = SIZE_MAX;
    return;
  }
  FlushLater();
}

void ServerConnection::Finish() {
  finished_ = true;
  FlushLater();
}

void ServerConnection::FlushLater() {
  if (flush_posted_ || writing_) return;
  flush_posted_ = true;
  asio::post(*shared_->io, [self = shared_from_this()] {
    self->flush_posted_ = false;
    if (!self->writing_ && !self->closed_) self->Write();
  });
}

// ---- writing ------------------------------------------------------------------------------------

// Writes collected responses first, then chunks, in one system call if possible. Only one write is in progress at a
// time.
void ServerConnection::Write() {
  if (writing_ || closed_) return;
  std::vector<asio::const_buffer> buffers;
  writing_text_.clear();
  writing_text_.swap(out_);
  if (!writing_text_.empty()) buffers.push_back(asio::buffer(writing_text_));
  while (!queue_.empty() && writing_chunks_.size() < kMostChunks) {
    writing_chunks_.push_back(std::move(queue_.front()));
    queue_.pop_front();
    const std::string& chunk = *writing_chunks_.back();
    const std::string_view text = unchunked_ ? ChunkData(chunk) : std::string_view(chunk);
    buffers.push_back(asio::buffer(text.data(), text.size()));
  }
  if (finished_ && queue_.empty()) {
    static constexpr std::string_view kEnd = "0\r\n\r\n";
    if (!unchunked_) buffers.push_back(asio::buffer(kEnd.data(), kEnd.size()));
    finished_ = false;
    stream_.reset();
    Touch();
    if (close_after_stream_) close_after_write_ = true;
  }
  if (buffers.empty()) {
    if (close_after_write_) Close();
    return;
  }
  writing_ = true;
  transport_->Write(buffers, [self = shared_from_this()](const Error& ec, size_t) {
    self->writing_ = false;
    for (const Chunk& chunk : self->writing_chunks_) {
      self->queued_bytes_ -= chunk->size();
      self->shared_->stats.waiting_bytes -= chunk->size();
    }
    self->writing_chunks_.clear();
    if (self->closed_) return;
    if (ec) {
      self->Close();
      return;
    }
    self->Written();
  });
}

void ServerConnection::Written() {
  if (watched_) Touch();
  if (!out_.empty() || !queue_.empty() || finished_) {
    Write();
    return;
  }
  if (close_after_write_ || (peer_closed_ && !Streaming() && !answering_)) {
    Close();
    return;
  }
  if (Streaming() || answering_) return;
  if (end_ > begin_) {
    Process();
  } else {
    Read();
  }
}

void ServerConnection::Close() {
  if (closed_) return;
  closed_ = true;
  Unwatch();
  // The source may be the caller, and may call again until it is destroyed, so it is destroyed later.
  if (stream_ != nullptr) asio::post(*shared_->io, [self = shared_from_this(), source = std::move(stream_)] {});
  stream_.reset();
  queue_.clear();
  transport_->Close();
}

}  // namespace berth::http
