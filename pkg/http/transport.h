// A byte stream to a peer: TCP, or TLS over another stream. For use within this package.
//
// Connections use this interface, so that Asio's stream operations are compiled in one file only, transport.cc, and
// OpenSSL's are called in one, tls_transport.cc. TLS over TLS, which a tunnel through a proxy that is itself reached
// over TLS needs, requires no code of its own.
#pragma once
#include <absl/functional/any_invocable.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <functional>
#include <memory>
#include <span>

namespace berth::http {

class Transport {
 public:
  using Error = boost::system::error_code;
  // Unlike std::function, it takes a reference-counted pointer without allocating memory, as each read has one.
  using Done = absl::AnyInvocable<void(const Error&, size_t bytes)>;

  virtual ~Transport() = default;
  // Reads what is available, at least one byte. One read and one write may be in progress at a time. The memory must
  // stay valid until `done` is called. That never happens inside the call, and on the thread of the io_context.
  virtual void ReadSome(boost::asio::mutable_buffer space, Done done) = 0;
  // Writes what the socket takes without waiting, and returns how many bytes that is, which may be none. The caller
  // passes the rest to Write, which also reports errors. TLS sends by itself what it has taken and the socket has not.
  // A short message nearly always fits, and saves a turn of the loop.
  virtual size_t WriteNow(boost::asio::const_buffer buffer) = 0;
  // Writes all buffers completely, under the same conditions as ReadSome.
  virtual void Write(std::span<const boost::asio::const_buffer> buffers, Done done) = 0;
  // Gives back the memory that is needed only while something is received or sent, for a connection that has become
  // idle. REQUIRES: no read and no write is in progress.
  virtual void ReleaseBuffers() {}
  virtual boost::asio::ip::tcp::socket& socket() = 0;
  virtual SSL* ssl() { return nullptr; }  // the outermost TLS layer; null for plain TCP

  // Closes the socket without a TLS close_notify. Operations in progress end with an error.
  void Close();
};

class TlsTransport : public Transport {
 public:
  enum class Role { kClient, kServer };
  // To be called once, before anything is read or written.
  virtual void Handshake(Role role, std::function<void(const Error&)> done) = 0;
};

std::unique_ptr<Transport> NewTcpTransport(boost::asio::ip::tcp::socket socket);
// `context` must outlive the transport.
std::unique_ptr<TlsTransport> NewTlsTransport(std::unique_ptr<Transport> under, boost::asio::ssl::context* context);

}  // namespace berth::http
