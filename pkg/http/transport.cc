#include "pkg/http/transport.h"

#include <boost/asio/write.hpp>
#include <utility>
#include <vector>

namespace berth::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

class TcpTransport final : public Transport {
 public:
  explicit TcpTransport(tcp::socket socket) : socket_(std::move(socket)) {}
  size_t WriteNow(asio::const_buffer buffer) override {
    Error ec;
    if (!socket_.non_blocking()) socket_.non_blocking(true, ec);
    const size_t n = ec ? 0 : socket_.write_some(asio::const_buffers_1(buffer), ec);
    return ec ? 0 : n;
  }
  void ReadSome(asio::mutable_buffer space, Done done) override {
    socket_.async_read_some(asio::mutable_buffers_1(space), std::move(done));
  }
  void Write(std::span<const asio::const_buffer> buffers, Done done) override {
    if (buffers.size() == 1) {
      asio::async_write(socket_, asio::const_buffers_1(buffers[0]), std::move(done));
      return;
    }
    asio::async_write(socket_, std::vector<asio::const_buffer>(buffers.begin(), buffers.end()), std::move(done));
  }
  tcp::socket& socket() override { return socket_; }

 private:
  tcp::socket socket_;
};

}  // namespace

void Transport::Close() {
  Error ignored;
  socket().close(ignored);
}

std::unique_ptr<Transport> NewTcpTransport(tcp::socket socket) {
  return std::make_unique<TcpTransport>(std::move(socket));
}

}  // namespace berth::http
