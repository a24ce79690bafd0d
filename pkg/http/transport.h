// A byte stream to a peer: TCP, or TLS over another stream (inside this package only).
//
// Connections are written against this interface, so that Asio's stream operations and its TLS engine are compiled in
// one file, transport.cc, however many kinds of connections there are. TLS over TLS, a tunnel through a proxy that is
// itself reached over TLS, needs no code of its own.
#pragma once
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
  using Done = std::function<void(const Error&, size_t bytes)>;

  virtual ~Transport() = default;
  // Reads what there is, at least one byte. One read and one write may be under way at a time. The memory must stay
  // valid until `done` is called, which is always later, on the thread of the io_context.
  virtual void ReadSome(boost::asio::mutable_buffer space, Done done) = 0;
  // Writes everything.
  virtual void Write(std::span<const boost::asio::const_buffer> buffers, Done done) = 0;
  virtual boost::asio::ip::tcp::socket& socket() = 0;
  virtual SSL* ssl() { return nullptr; }  // of the outermost TLS layer; null for plain TCP

  // Closes the socket without a goodbye; operations under way end with an error.
  void Close();
  // Says that nothing more will be sent; what was sent is still delivered.
  void ShutdownWrite();
};

class TlsTransport : public Transport {
 public:
  enum class Role { kClient, kServer };
  // To be called once, before anything is read or written.
  virtual void Handshake(Role role, std::function<void(const Error&)> done) = 0;
};

std::unique_ptr<Transport> NewTcpTransport(boost::asio::ip::tcp::socket socket);
// The context must outlive the transport.
std::unique_ptr<TlsTransport> NewTlsTransport(std::unique_ptr<Transport> under, boost::asio::ssl::context* context);

}  // namespace berth::http
