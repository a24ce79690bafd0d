// OpenSSL reads and writes its records through a BIO that only refers to two buffers: what has been received and not
// been decrypted, and what has been encrypted and not been sent. So nothing is copied between BIOs, and OpenSSL never
// blocks. asio::ssl::stream, which this replaces, goes through a pair of BIOs, and clears OpenSSL's queue of errors at
// each step.
//
// Invariants: a read of the transport below is in progress only while `begin_ == end_`. Whatever OpenSSL has written is
// in `out_`, in order, until the write before it is over; reading and shaking hands write too. `read_done_` is set
// exactly while a Reading exists that has not been taken.
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/http/transport.h"

namespace berth::http {
namespace {

namespace asio = boost::asio;

// A record has at most 16 KiB of data and a few hundred bytes more.
constexpr size_t kFirstReceived = 17 << 10, kMostReceived = 68 << 10;
// So much of what is written is encrypted at a time, so that a long answer does not occupy its memory twice.
constexpr size_t kMostEncrypted = 128 << 10;
constexpr size_t kMostWrittenNow = 16 << 10;
constexpr size_t kKept = 32 << 10;  // of the memory of what has been sent

// What the transport and its operations in progress share.
class Tls : public std::enable_shared_from_this<Tls> {
 public:
  using Error = Transport::Error;
  using Done = Transport::Done;
  using HandshakeDone = std::function<void(const Error&)>;

  Tls(std::unique_ptr<Transport> under, SSL_CTX* context) : under_(std::move(under)), ssl_(SSL_new(context)) {
    if (ssl_ == nullptr) throw std::bad_alloc();
    BIO* const bio = BIO_new(Method());
    if (bio == nullptr) throw std::bad_alloc();
    BIO_set_data(bio, this);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_.get(), bio, bio);
    // As in Go. A write would otherwise have to wait for what is read.
    SSL_set_options(ssl_.get(), SSL_OP_NO_RENEGOTIATION);
  }

  SSL* ssl() { return ssl_.get(); }
  Transport& under() { return *under_; }

  void Handshake(TlsTransport::Role role, HandshakeDone done) {
    if (role == TlsTransport::Role::kClient) {
      SSL_set_connect_state(ssl());
    } else {
      SSL_set_accept_state(ssl());
      SSL_set_mode(ssl(), SSL_MODE_RELEASE_BUFFERS);  // a server has many connections, most of them idle
    }
    Post([self = shared_from_this(), done = std::move(done)]() mutable { self->ContinueHandshake(std::move(done)); });
  }

  void Read(asio::mutable_buffer space, Done done) {
    space_ = space;
    read_done_ = std::move(done);
    if (!Buffered() && !read_error_) return Receive();
    Post([reading = Reading(shared_from_this())]() mutable { reading.Take()->Decrypt(); });
  }

  void ReleaseBuffers() {
    if (Buffered()) return;
    SSL_free_buffers(ssl());
    if (in_.size() > kFirstReceived) in_ = std::string();
    begin_ = end_ = 0;
    under_->ReleaseBuffers();
  }

  void Write(std::vector<asio::const_buffer> rest, Done done) { Encrypt(std::move(rest), 0, std::move(done)); }

  // What has been encrypted counts as taken; Flush sends what the layer below has left of it.
  size_t WriteNow(asio::const_buffer buffer) {
    if (sending_now_ || write_failed_ || !out_.empty() || buffer.size() > kMostWrittenNow) return 0;
    ForgetErrors();
    size_t taken = 0;
    if (SSL_write_ex(ssl(), buffer.data(), buffer.size(), &taken) != 1) return 0;
    out_.erase(0, under_->WriteNow(asio::buffer(out_)));
    Flush();
    return taken;
  }

 private:
  using Sent = absl::AnyInvocable<void(const Error&)>;

  // A read in progress, in the operation that it waits for. If that is destroyed without being called, so is what was
  // to be called then, which usually holds the transport.
  class Reading {
   public:
    explicit Reading(std::shared_ptr<Tls> tls) : tls_(std::move(tls)) {}
    Reading(Reading&&) noexcept = default;
    ~Reading() {
      if (tls_ != nullptr) tls_->read_done_ = nullptr;
    }
    std::shared_ptr<Tls> Take() { return std::move(tls_); }

   private:
    std::shared_ptr<Tls> tls_;
  };

  struct DeleteSsl {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };

  // Runs f on the thread of the io_context, but not inside this call.
  template <typename F>
  void Post(F f) {
    asio::post(under_->socket().get_executor(), std::move(f));
  }

  // ---- the BIO ----

  static const BIO_METHOD* Method() {
    static const BIO_METHOD* const method = [] {
      BIO_METHOD* const m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "buffers of a connection");
      if (m == nullptr) throw std::bad_alloc();
      BIO_meth_set_read_ex(m, [](BIO* bio, char* to, size_t size, size_t* n) {
        return static_cast<Tls*>(BIO_get_data(bio))->Take(bio, to, size, n);
      });
      BIO_meth_set_write_ex(m, [](BIO* bio, const char* from, size_t size, size_t* n) {
        static_cast<Tls*>(BIO_get_data(bio))->out_.append(from, size);
        *n = size;
        return 1;
      });
      BIO_meth_set_ctrl(m, [](BIO*, int command, long, void*) -> long { return command == BIO_CTRL_FLUSH; });
      return m;
    }();
    return method;
  }

  int Take(BIO* bio, char* to, size_t size, size_t* n) {
    BIO_clear_retry_flags(bio);
    *n = std::min(size, end_ - begin_);
    if (*n == 0) {
      BIO_set_retry_read(bio);
      return 0;
    }
    std::memcpy(to, in_.data() + begin_, *n);
    begin_ += *n;
    return 1;
  }

  // ---- what OpenSSL says ----

  // OpenSSL takes any error that is in its queue for one of the call that comes next.
  static void ForgetErrors() {
    if (ERR_peek_error() != 0) ERR_clear_error();
  }

  // Returns why a call has failed, or nothing if it needs more input.
  std::optional<Error> Failure(int result) {
    switch (SSL_get_error(ssl(), result)) {
      case SSL_ERROR_WANT_READ:
        return std::nullopt;
      case SSL_ERROR_ZERO_RETURN:
        return asio::error::eof;
      default:
        break;
    }
    const int code = static_cast<int>(ERR_get_error());
    ERR_clear_error();
    if (code == 0) return asio::ssl::error::unspecified_system_error;
    return Error(code, asio::error::get_ssl_category());
  }

  // A peer that closes the connection without a close_notify may have been cut off.
  Error Ended(const Error& ec) {
    const bool announced = (SSL_get_shutdown(ssl()) & SSL_RECEIVED_SHUTDOWN) != 0;
    return ec == asio::error::eof && !announced ? Error(asio::ssl::error::stream_truncated) : ec;
  }

  // ---- handshake ----

  void ContinueHandshake(HandshakeDone done) {
    ForgetErrors();
    const int result = SSL_do_handshake(ssl());
    const std::optional<Error> failure = result == 1 ? Error() : Failure(result);
    if (failure) {
      // An alert is written before the failure is told, and so is the last message of a handshake.
      Send([failure = *failure, done = std::move(done)](const Error& ec) { done(failure ? failure : ec); });
      return;
    }
    Flush();
    under_->ReadSome(Space(), [self = shared_from_this(), done = std::move(done)](const Error& ec, size_t n) mutable {
      self->end_ = n;
      ec ? done(self->Ended(ec)) : self->ContinueHandshake(std::move(done));
    });
  }

  // ---- reading ----

  bool Buffered() const { return begin_ < end_ || SSL_pending(ssl_.get()) > 0; }

  // Returns the memory for what is received next. What has filled it is a stream of which more is waiting. REQUIRES:
  // everything that has been received is decrypted.
  asio::mutable_buffer Space() {
    if (in_.empty()) {
      in_.resize(kFirstReceived);
    } else if (end_ == in_.size() && end_ < kMostReceived) {
      in_.resize(in_.size() * 2);
    }
    begin_ = end_ = 0;
    return asio::buffer(in_);
  }

  void Receive() {
    under_->ReadSome(Space(), [reading = Reading(shared_from_this())](const Error& ec, size_t n) mutable {
      const std::shared_ptr<Tls> self = reading.Take();
      self->end_ = n;
      ec ? self->TellRead(self->Ended(ec), 0) : self->Decrypt();
    });
  }

  void TellRead(Error ec, size_t n) {
    Done done = std::move(read_done_);
    done(ec, n);
  }

  void Decrypt() {
    size_t n = 0;
    bool wants_more = false;
    ForgetErrors();
    while (!read_error_ && !wants_more && n < space_.size() && (n == 0 || Buffered())) {
      size_t got = 0;
      const int result = SSL_read_ex(ssl(), static_cast<char*>(space_.data()) + n, space_.size() - n, &got);
      n += got;
      if (result == 1) continue;
      read_error_ = Failure(result);
      wants_more = !read_error_;
    }
    Flush();  // an alert, or the answer to a change of keys
    if (n > 0) return TellRead(Error(), n);
    if (read_error_) return TellRead(*read_error_, 0);
    Receive();
  }

  // ---- writing ----

  // Encrypts the first of what is left and sends it; then the rest. `written`: bytes of data before it.
  void Encrypt(std::vector<asio::const_buffer> rest, size_t written, Done done) {
    ForgetErrors();
    size_t taken = 0, buffer = 0;
    for (; buffer < rest.size() && taken < kMostEncrypted; ++buffer) {
      const size_t size = std::min(rest[buffer].size(), kMostEncrypted - taken);
      size_t n = 0;
      if (const int result = size == 0 ? 1 : SSL_write_ex(ssl(), rest[buffer].data(), size, &n); result != 1) {
        // Nothing is received here, so OpenSSL cannot be waiting for it.
        const Error failure = Failure(result).value_or(asio::ssl::error::unspecified_system_error);
        return Post([failure, done = std::move(done)]() mutable { done(failure, 0); });
      }
      taken += size;
      if (size < rest[buffer].size()) {
        rest[buffer] += size;
        break;
      }
    }
    rest.erase(rest.begin(), rest.begin() + buffer);
    Send([self = shared_from_this(), rest = std::move(rest), written = written + taken,
          done = std::move(done)](const Error& ec) mutable {
      if (ec || rest.empty()) return done(ec, written);
      self->Encrypt(std::move(rest), written, std::move(done));
    });
  }

  // Calls `sent` when what OpenSSL has written and nobody has begun to send is sent, never inside this call. REQUIRES:
  // no other call waits for that.
  void Send(Sent sent) {
    if (out_.empty()) return Post([sent = std::move(sent)]() mutable { sent(Error()); });
    sent_ = std::move(sent);
    Flush();
  }

  void Flush() {
    if (sending_now_ || out_.empty()) return;
    sending_now_ = true;
    sending_.swap(out_);
    const asio::const_buffer all = asio::buffer(sending_);
    auto written = [self = shared_from_this(), sent = std::exchange(sent_, {})](const Error& ec, size_t) mutable {
      self->sending_now_ = false;
      self->write_failed_ = self->write_failed_ || ec;
      self->sending_.clear();
      if (self->sending_.capacity() > kKept) self->sending_ = std::string();
      if (sent) sent(ec);
      self->Flush();
    };
    under_->Write({&all, 1}, std::move(written));
  }

  std::unique_ptr<Transport> under_;
  std::unique_ptr<SSL, DeleteSsl> ssl_;
  std::string in_;  // received; from begin_ to end_ it is not decrypted yet
  size_t begin_ = 0, end_ = 0;
  std::optional<Error> read_error_;  // found behind data, and told by the next read
  std::string out_, sending_;        // encrypted: to be sent, and being sent
  bool sending_now_ = false, write_failed_ = false;
  Sent sent_;  // called when out_ is sent
  // Of the read in progress.
  asio::mutable_buffer space_;
  Done read_done_;
};

class SslTransport final : public TlsTransport {
 public:
  SslTransport(std::unique_ptr<Transport> under, SSL_CTX* context)
      : tls_(std::make_shared<Tls>(std::move(under), context)) {}
  void Handshake(Role role, std::function<void(const Error&)> done) override { tls_->Handshake(role, std::move(done)); }
  void ReadSome(asio::mutable_buffer space, Done done) override { tls_->Read(space, std::move(done)); }
  size_t WriteNow(asio::const_buffer buffer) override { return tls_->WriteNow(buffer); }
  void Write(std::span<const asio::const_buffer> buffers, Done done) override {
    tls_->Write({buffers.begin(), buffers.end()}, std::move(done));
  }
  void ReleaseBuffers() override { tls_->ReleaseBuffers(); }
  asio::ip::tcp::socket& socket() override { return tls_->under().socket(); }
  SSL* ssl() override { return tls_->ssl(); }

 private:
  std::shared_ptr<Tls> tls_;
};

}  // namespace

std::unique_ptr<TlsTransport> NewTlsTransport(std::unique_ptr<Transport> under, asio::ssl::context* context) {
  return std::make_unique<SslTransport>(std::move(under), context->native_handle());
}

}  // namespace berth::http
