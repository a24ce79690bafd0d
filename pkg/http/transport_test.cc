#include "pkg/http/transport.h"

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "pkg/http/testing/certificates.h"

namespace berth::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Error = Transport::Error;

// Text without repetitions, so that pieces that are lost, doubled or out of order are noticed.
std::string Numbers(size_t size) {
  std::string text;
  for (size_t i = 0; text.size() < size; ++i) text += std::to_string(i) + " ";
  return text.substr(0, size);
}

asio::ssl::context ServerContext(int newest) {
  asio::ssl::context context(asio::ssl::context::tls_server);
  context.use_certificate_chain_file(Certs().dir.path("server.pem"));
  context.use_private_key_file(Certs().dir.path("server.key"), asio::ssl::context::pem);
  SSL_CTX_set_max_proto_version(context.native_handle(), newest);
  return context;
}

// Our client and a server by Asio, which are connected and run on the thread of the test.
struct ClientAndServer {
  explicit ClientAndServer(int newest = TLS1_3_VERSION) : server_context(ServerContext(newest)) {
    tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0));
    tcp::socket socket(io);
    socket.connect(acceptor.local_endpoint());
    acceptor.accept(server.next_layer());
    client = NewTlsTransport(NewTcpTransport(std::move(socket)), &client_context);
  }
  // Returns the errors of both sides.
  std::pair<Error, Error> Handshake() {
    std::optional<Error> here, there;
    client->Handshake(TlsTransport::Role::kClient, [&](const Error& ec) { here = ec; });
    server.async_handshake(asio::ssl::stream_base::server, [&](const Error& ec) { there = ec; });
    Run([&] { return here && there; });
    return {*here, *there};
  }
  void HandshakeWell() {
    const auto [here, there] = Handshake();
    CHECK(here.message() == "Success");
    REQUIRE(there.message() == "Success");
  }
  template <typename Over>
  void Run(Over over) {
    io.restart();
    while (!over()) REQUIRE(io.run_one() > 0);
  }
  // Reads through memory of `step` bytes until the text has that size or there is an error.
  std::string ReadHere(size_t size, size_t step, Error* error) {
    std::string all, space(step, '\0');
    std::function<void()> next = [&] {
      client->ReadSome(asio::buffer(space), [&](const Error& ec, size_t n) {
        all.append(space, 0, n);
        *error = ec;
        if (!ec && all.size() < size) next();
      });
    };
    next();
    Run([&] { return *error || all.size() >= size; });
    return all;
  }
  std::string ReadThere(size_t size) {
    std::string all(size, '\0');
    bool over = false;
    asio::async_read(server, asio::buffer(all), [&](const Error& ec, size_t n) {
      all.resize(ec ? 0 : n);
      over = true;
    });
    Run([&] { return over; });
    return all;
  }

  asio::io_context io;
  asio::ssl::context server_context, client_context{asio::ssl::context::tls_client};
  asio::ssl::stream<tcp::socket> server{io, server_context};
  std::unique_ptr<TlsTransport> client;
};

}  // namespace

TEST_CASE("what is written through TLS arrives as it is, whatever its size and its pieces are") {
  for (int newest : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    ClientAndServer both(newest);
    both.HandshakeWell();
    for (size_t size : {1, 100, 16'384, 16'385, 131'072, 131'073, 1'000'000}) {
      const std::string text = Numbers(size);
      std::optional<std::pair<Error, size_t>> written;
      const auto done = [&](const Error& ec, size_t n) { written.emplace(ec, n); };
      const size_t third = size / 3;
      const std::vector<asio::const_buffer> pieces = {asio::buffer(text.data(), third), asio::const_buffer(),
                                                      asio::buffer(text.data() + third, size - third)};
      both.client->Write(pieces, done);
      CHECK_FALSE(written);
      CHECK(both.ReadThere(size) == text);
      both.Run([&] { return written.has_value(); });
      CHECK(*written == std::pair<Error, size_t>({}, size));
    }
  }
}

TEST_CASE("a connection whose buffers were released is as good as before") {
  for (int newest : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    ClientAndServer both(newest);
    both.HandshakeWell();
    for (size_t size : {1, 20'000, 300'000}) {
      const std::string text = Numbers(size);
      bool written = false;
      asio::async_write(both.server, asio::buffer(text), [&](const Error&, size_t) { written = true; });
      Error error;
      CHECK(both.ReadHere(size, 7'000, &error) == text);
      CHECK_FALSE(error);
      both.Run([&] { return written; });
      CHECK(both.client->WriteNow(asio::buffer(text)) == (size <= 16'384 ? size : 0));
      if (size <= 16'384) CHECK(both.ReadThere(size) == text);
      both.client->ReleaseBuffers();
    }
  }
}

TEST_CASE("what is received is kept when buffers are released before it is read") {
  ClientAndServer both;
  both.HandshakeWell();
  const std::string text = Numbers(30'000);
  bool written = false;
  asio::async_write(both.server, asio::buffer(text), [&](const Error&, size_t) { written = true; });
  Error error;
  std::string all = both.ReadHere(1, 100, &error);
  both.client->ReleaseBuffers();
  all += both.ReadHere(text.size() - all.size(), 100, &error);
  CHECK_FALSE(error);
  CHECK(all == text);
}

TEST_CASE("what is written at once comes before what is written later, whoever takes how much of it") {
  ClientAndServer both;
  both.HandshakeWell();
  const std::string text = Numbers(20'000'000);
  // The server does not read yet, so the buffers of the connection fill up.
  asio::const_buffer rest = asio::buffer(text);
  size_t taken = 1;
  while (taken > 0) {
    taken = both.client->WriteNow(asio::buffer(rest, 10'000));
    REQUIRE((taken == 0 || taken == 10'000));
    rest += taken;
  }
  CHECK(rest.size() < text.size());
  REQUIRE(rest.size() > 0);
  std::optional<Error> written;
  both.client->Write({&rest, 1}, [&](const Error& ec, size_t) { written = ec; });
  CHECK(both.client->WriteNow(asio::buffer("x", 1)) == 0);
  CHECK(both.ReadThere(text.size()) == text);
  both.Run([&] { return written.has_value(); });
  CHECK_FALSE(*written);
  CHECK(both.client->WriteNow(asio::buffer("the end")) == 8);
  CHECK(both.ReadThere(8) == std::string("the end", 8));
}

TEST_CASE("what a closed connection does not take at once is left to a write that tells why") {
  ClientAndServer both;
  both.HandshakeWell();
  both.server.next_layer().close();
  for (int i = 0; both.client->WriteNow(asio::buffer("x", 1)) > 0; ++i) {
    REQUIRE(i < 100);
    both.io.restart();
    both.io.poll();
  }
  const asio::const_buffer x = asio::buffer("x", 1);
  std::optional<Error> written;
  both.client->Write({&x, 1}, [&](const Error& ec, size_t) { written = ec; });
  both.Run([&] { return written.has_value(); });
  CHECK((*written == asio::error::broken_pipe || *written == asio::error::connection_reset));
}

TEST_CASE("what comes through TLS is read in pieces of any size") {
  ClientAndServer both;
  both.HandshakeWell();
  for (size_t step : {1, 1000, 20'000, 300'000}) {
    const std::string text = Numbers(step == 1 ? 40'000 : 1'000'000);
    bool written = false;
    asio::async_write(both.server, asio::buffer(text), [&](const Error& ec, size_t) { written = !ec; });
    Error error;
    CHECK(both.ReadHere(text.size(), step, &error) == text);
    CHECK_FALSE(error);
    both.Run([&] { return written; });
  }
}

TEST_CASE("both sides of TLS write at the same time, also while keys change") {
  ClientAndServer both;
  both.HandshakeWell();
  const std::string text = Numbers(3'000'000);
  for (int i = 0; i < 3; ++i) {
    // The server asks for other keys, which is answered from within a read.
    REQUIRE(SSL_key_update(both.server.native_handle(), SSL_KEY_UPDATE_REQUESTED) == 1);
    std::string there(text.size(), '\0'), here, space(50'000, '\0');
    int over = 0;
    asio::async_write(both.server, asio::buffer(text), [&](const Error& ec, size_t) { over += !ec; });
    asio::async_read(both.server, asio::buffer(there), [&](const Error& ec, size_t) { over += !ec; });
    const asio::const_buffer all = asio::buffer(text);
    both.client->Write({&all, 1}, [&](const Error& ec, size_t) { over += !ec; });
    std::function<void()> next = [&] {
      both.client->ReadSome(asio::buffer(space), [&](const Error& ec, size_t n) {
        here.append(space, 0, n);
        if (!ec && here.size() < text.size()) return next();
        over += !ec;
      });
    };
    next();
    both.Run([&] { return over == 4; });
    CHECK(here == text);
    CHECK(there == text);
  }
}

TEST_CASE("the end of a TLS connection is told after the data before it, and says whether it was announced") {
  for (bool announced : {true, false}) {
    ClientAndServer both;
    both.HandshakeWell();
    asio::write(both.server, asio::buffer("the last", 8));
    bool sent = !announced;
    if (announced) both.server.async_shutdown([&](const Error&) { sent = true; });
    if (!announced) both.server.next_layer().close();
    Error error;
    CHECK(both.ReadHere(1000, 100, &error) == "the last");
    CHECK(error == (announced ? Error(asio::error::eof) : Error(asio::ssl::error::stream_truncated)));
    both.client->Close();
    both.Run([&] { return sent; });
  }
}

TEST_CASE("a handshake that fails says why on both sides") {
  ClientAndServer both;
  both.client_context.set_verify_mode(asio::ssl::verify_peer);
  SSL_set_verify(both.client->ssl(), SSL_VERIFY_PEER, nullptr);
  const auto [here, there] = both.Handshake();
  CHECK(here.category() == asio::error::get_ssl_category());
  CHECK(here.message().find("certificate verify failed") != std::string::npos);
  CHECK(there.message().find("unknown ca") != std::string::npos);  // from the alert
}

TEST_CASE("TLS notices a record that was changed on its way, and tells the other side behind what it is writing") {
  for (size_t size : {0, 100'000}) {  // more than the sockets take
    ClientAndServer both;
    both.client->socket().set_option(tcp::socket::send_buffer_size(4096));
    both.server.next_layer().set_option(tcp::socket::receive_buffer_size(4096));
    both.HandshakeWell();
    const std::string text = Numbers(size);
    const asio::const_buffer all = asio::buffer(text);
    std::optional<Error> written;
    if (size > 0) both.client->Write({&all, 1}, [&](const Error& ec, size_t) { written = ec; });
    const std::string changed = std::string("\x17\x03\x03\x00\x20", 5) + std::string(32, 'x');
    asio::write(both.server.next_layer(), asio::buffer(changed));
    Error error, again;
    CHECK(both.ReadHere(1, 100, &error).empty());
    CHECK(error.category() == asio::error::get_ssl_category());
    CHECK(both.ReadHere(1, 100, &again).empty());
    CHECK(again == error);
    CHECK_FALSE(written);
    CHECK(both.ReadThere(size) == text);
    std::optional<Error> alert;
    char space[10];
    both.server.async_read_some(asio::buffer(space), [&](const Error& ec, size_t) { alert = ec; });
    both.Run([&] { return alert && (size == 0 || written); });
    CHECK(alert->message().find("bad record mac") != std::string::npos);
    CHECK(written.value_or(Error()) == Error());
  }
}

TEST_CASE("a peer that wants to negotiate anew is told that nobody does") {
  ClientAndServer both(TLS1_2_VERSION);
  both.HandshakeWell();
  REQUIRE(SSL_renegotiate(both.server.native_handle()) == 1);
  std::optional<Error> there;
  char space[10], more[10];
  both.server.async_read_some(asio::buffer(space), [&](const Error& ec, size_t) { there = ec; });
  both.client->ReadSome(asio::buffer(more), [](const Error&, size_t) {});
  both.Run([&] { return there.has_value(); });
  CHECK(there->message().find("no renegotiation") != std::string::npos);
}

TEST_CASE("a transport that is closed ends what is in progress, and none of it keeps it alive") {
  ClientAndServer both;
  both.HandshakeWell();
  auto held = std::make_shared<int>(0);
  std::string space(100, '\0');
  both.client->ReadSome(asio::buffer(space), [held](const Error& ec, size_t) { *held = ec ? 1 : 2; });
  const std::string text = Numbers(10'000'000);  // more than the socket takes
  const asio::const_buffer all = asio::buffer(text);
  both.client->Write({&all, 1}, [held](const Error&, size_t) {});
  both.client->Close();
  both.Run([&] { return held.use_count() == 1; });
  CHECK(*held == 1);
}

}  // namespace berth::http
