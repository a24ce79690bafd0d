#include "pkg/http/transport.h"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace berth::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

class TcpTransport final : public Transport {
 public:
  explicit TcpTransport(tcp::socket socket) : socket_(std::move(socket)) {}
  void ReadSome(asio::mutable_buffer space, Done done) override {
    socket_.async_read_some(asio::mutable_buffers_1(space), std::move(done));
  }
  void Write(std::span<const asio::const_buffer> buffers, Done done) override {
    asio::async_write(socket_, std::vector<asio::const_buffer>(buffers.begin(), buffers.end()), std::move(done));
  }
  tcp::socket& socket() override { return socket_; }

 private:
  tcp::socket socket_;
};

// Adapts a Transport to the interface that asio::ssl::stream expects of the layer below it.
class Below {
 public:
  using executor_type = tcp::socket::executor_type;
  using lowest_layer_type = tcp::socket::lowest_layer_type;

  explicit Below(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}
  executor_type get_executor() { return transport_->socket().get_executor(); }
  lowest_layer_type& lowest_layer() { return transport_->socket().lowest_layer(); }
  tcp::socket& socket() { return transport_->socket(); }

  template <typename Buffers, typename Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    transport_->ReadSome(*asio::buffer_sequence_begin(buffers), Shared(std::forward<Handler>(handler)));
  }
  template <typename Buffers, typename Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    const std::vector<asio::const_buffer> all(asio::buffer_sequence_begin(buffers), asio::buffer_sequence_end(buffers));
    transport_->Write(all, Shared(std::forward<Handler>(handler)));
  }

 private:
  // Asio's handlers can be moved but not copied, as std::function requires, so they are kept in a shared_ptr.
  template <typename Handler>
  static Transport::Done Shared(Handler&& handler) {
    auto kept = std::make_shared<std::decay_t<Handler>>(std::forward<Handler>(handler));
    return [kept](const Transport::Error& e, size_t n) { std::move (*kept)(e, n); };
  }
  std::unique_ptr<Transport> transport_;
};

// TLS over any Transport. The stream owns the transport below it, through Below.
class SslTransport final : public TlsTransport {
 public:
  SslTransport(std::unique_ptr<Transport> under, asio::ssl::context* context)
      : stream_(Below(std::move(under)), *context) {}
  void Handshake(Role role, std::function<void(const Error&)> done) override {
    stream_.async_handshake(role == Role::kClient ? asio::ssl::stream_base::client : asio::ssl::stream_base::server,
                            std::move(done));
  }
  void ReadSome(asio::mutable_buffer space, Done done) override {
    stream_.async_read_some(asio::mutable_buffers_1(space), std::move(done));
  }
  void Write(std::span<const asio::const_buffer> buffers, Done done) override {
    asio::async_write(stream_, std::vector<asio::const_buffer>(buffers.begin(), buffers.end()), std::move(done));
  }
  tcp::socket& socket() override { return stream_.next_layer().socket(); }
  SSL* ssl() override { return stream_.native_handle(); }

 private:
  asio::ssl::stream<Below> stream_;
};

}  // namespace

void Transport::Close() {
  Error ignored;
  socket().close(ignored);
}

std::unique_ptr<Transport> NewTcpTransport(tcp::socket socket) {
  return std::make_unique<TcpTransport>(std::move(socket));
}

std::unique_ptr<TlsTransport> NewTlsTransport(std::unique_ptr<Transport> under, asio::ssl::context* context) {
  return std::make_unique<SslTransport>(std::move(under), context);
}

}  // namespace berth::http
