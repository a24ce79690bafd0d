#include "pkg/http/server.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>

#include "pkg/http/event_loop.h"
#include "pkg/http/testing/fake_server.h"
#include "pkg/util/status.h"

namespace berth::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// A server on an event loop of its own, and clients that use plain sockets.
struct ServerFixture {
  explicit ServerFixture(ServerHandler handler, ServerOptions options = {}) : loop("server") {
    server = std::make_unique<Server>(loop.io(), "test server", options);
    const auto bound = server->Listen("127.0.0.1", 0, nullptr, std::move(handler));
    REQUIRE(bound.ok());
    port = *bound;
    loop.Start();
  }
  ~ServerFixture() { loop.Stop(); }

  tcp::socket Connect(const std::string& from = "127.0.0.1") {
    tcp::socket s(client_io);
    s.open(tcp::v4());
    s.bind(tcp::endpoint(asio::ip::make_address(from), 0));
    s.connect(tcp::endpoint(asio::ip::make_address("127.0.0.1"), port));
    return s;
  }
  // Sends `bytes` on a new connection and returns all that arrives until the server closes it.
  std::string Ask(const std::string& bytes) {
    tcp::socket s = Connect();
    asio::write(s, asio::buffer(bytes));
    return Rest(s);
  }
  static std::string Rest(tcp::socket& s) {
    std::string out;
    boost::system::error_code ec;
    asio::read(s, asio::dynamic_buffer(out), ec);
    return out;
  }
  // Reads one response that has a Content-Length. Returns its status line and body.
  static std::string Answer(tcp::socket& s) {
    std::string out;
    char c;
    boost::system::error_code ec;
    while (out.find("\r\n\r\n") == std::string::npos && asio::read(s, asio::buffer(&c, 1), ec) == 1) out += c;
    const size_t at = out.find("Content-Length: ");
    if (at == std::string::npos) return out;
    std::string body(std::stoul(out.substr(at + 16)), '\0');
    asio::read(s, asio::buffer(body), ec);
    return out.substr(0, out.find("\r\n")) + " " + body;
  }

  EventLoop loop;
  std::unique_ptr<Server> server;
  uint16_t port = 0;
  asio::io_context client_io;
};

// Answers with the request's method, path, query and body.
void Echo(const ServerRequest& r, const Responder& answer) {
  ServerResponse page;
  page.body = r.method + " " + r.path + (r.has_query ? "?" + r.query : "") + " " + r.body;
  answer.Send(std::move(page));
}

std::string FirstLine(const std::string& text) {
  return text.substr(0, text.find("\r\n"));
}

}  // namespace

TEST_CASE("server: requests are answered in order, with bodies of any framing") {
  ServerFixture f(Echo);
  tcp::socket s = f.Connect();
  asio::write(s, asio::buffer(std::string("GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n"
                                          "POST http://x/c HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
                                          "POST /d? HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
                                          "2\r\nxy\r\n1\r\nz\r\n0\r\n\r\n")));
  CHECK(ServerFixture::Answer(s) == "HTTP/1.1 200 OK GET /a?b ");
  CHECK(ServerFixture::Answer(s) == "HTTP/1.1 200 OK POST /c abc");
  CHECK(ServerFixture::Answer(s) == "HTTP/1.1 200 OK POST /d? xyz");
  const std::string old = f.Ask("HEAD /h HTTP/1.0\r\n\r\n");
  CHECK(FirstLine(old) == "HTTP/1.0 200 OK");
  CHECK_THAT(old, Catch::Contains("Content-Length: 8\r\n") && Catch::EndsWith("\r\n\r\n"));
}

TEST_CASE("server: what a proxy could read otherwise is refused, and the connection closed") {
  ServerFixture f(Echo);
  const std::string smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
  for (const char* coding : {"xchunked", "chunked, gzip", "gzip, chunked", "identity"}) {
    CAPTURE(coding);
    const std::string all =
        f.Ask(std::string("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: ") + coding + "\r\n\r\n" + smuggled);
    CHECK(FirstLine(all) == "HTTP/1.1 501 Not Implemented: unsupported transfer encoding");
    CHECK_THAT(all, !Catch::Contains("smuggled"));
  }
  const std::string both =
      f.Ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n" + smuggled);
  CHECK(FirstLine(both) == "HTTP/1.1 400 Bad Request");
  CHECK(FirstLine(f.Ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n" + smuggled)) ==
        "HTTP/1.1 400 Bad Request");
  CHECK(FirstLine(f.Ask("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")) ==
        "HTTP/1.1 400 Bad Request: too many Host headers");
  CHECK(FirstLine(f.Ask("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n")) ==
        "HTTP/1.1 400 Bad Request: too many Host headers");
  CHECK(FirstLine(f.Ask("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n")) ==
        "HTTP/1.1 400 Bad Request");
  CHECK(FirstLine(f.Ask("GET / HTTP/1.1\r\n\r\n")) == "HTTP/1.1 400 Bad Request: missing required Host header");
}

TEST_CASE("server: requests and headers that are too long are refused") {
  ServerOptions o;
  o.request_bytes = 1000;
  o.header_bytes = 500;
  ServerFixture f(Echo, o);
  CHECK(FirstLine(f.Ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n")) ==
        "HTTP/1.1 413 Request Entity Too Large");
  CHECK(FirstLine(f.Ask("GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(600, 'a') + "\r\n\r\n")) ==
        "HTTP/1.1 431 Request Header Fields Too Large");
}

TEST_CASE("server: a handler may answer later, and nobody else waits for it") {
  std::mutex mutex;
  std::vector<Responder> waiting;
  Mailbox<int> arrived;
  ServerFixture f([&](const ServerRequest& r, const Responder& answer) {
    if (r.path != "/slow") return Echo(r, answer);
    std::lock_guard lock(mutex);
    waiting.push_back(answer);
    arrived.Put(1);
  });
  tcp::socket slow = f.Connect(), fast = f.Connect();
  asio::write(slow,
              asio::buffer(std::string("GET /slow HTTP/1.1\r\nHost: x\r\n\r\nGET /next HTTP/1.1\r\nHost: x\r\n\r\n")));
  REQUIRE(arrived.WaitFor(1));
  asio::write(fast, asio::buffer(std::string("GET /fast HTTP/1.1\r\nHost: x\r\n\r\n")));
  CHECK(ServerFixture::Answer(fast) == "HTTP/1.1 200 OK GET /fast ");
  f.loop.executor()->Post([&] {
    ServerResponse page;
    page.body = "at last";
    waiting[0].Send(page);
    waiting[0].Send(page);  // the second response to one request
    waiting.clear();
  });
  CHECK(ServerFixture::Answer(slow) == "HTTP/1.1 200 OK at last");
  CHECK(ServerFixture::Answer(slow) == "HTTP/1.1 200 OK GET /next ");
  // A client that does not wait for its response leaves nothing behind.
  {
    tcp::socket gone = f.Connect();
    asio::write(gone, asio::buffer(std::string("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")));
    REQUIRE(arrived.WaitFor(2));
  }
  f.loop.executor()->Post([&] {
    waiting[0].Send(ServerResponse{});
    waiting.clear();
  });
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (f.server->stats().connections > 2 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  CHECK(f.server->stats().connections == 2);
}

TEST_CASE("server: the longest idle connection makes room, one of another machine first") {
  ServerOptions o;
  o.max_connections = 4;
  ServerFixture f(Echo, o);
  const std::string get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  std::vector<tcp::socket> many;
  for (int i = 0; i < 4; ++i) {
    many.push_back(f.Connect());
    asio::write(many.back(), asio::buffer(get));
    CHECK(ServerFixture::Answer(many.back()) == "HTTP/1.1 200 OK GET / ");
  }
  asio::write(many[0], asio::buffer(get));  // now the second is the one that has been idle longest
  CHECK(ServerFixture::Answer(many[0]) == "HTTP/1.1 200 OK GET / ");
  tcp::socket probe = f.Connect();
  asio::write(probe, asio::buffer(get));
  CHECK(ServerFixture::Answer(probe) == "HTTP/1.1 200 OK GET / ");
  CHECK(ServerFixture::Rest(many[1]).empty());
  asio::write(many[0], asio::buffer(get));
  CHECK(ServerFixture::Answer(many[0]) == "HTTP/1.1 200 OK GET / ");
  CHECK(f.server->stats().displaced == 1);
  CHECK(f.server->stats().refused == 0);
}

TEST_CASE("server: busy connections are not displaced, and this machine has a reserve") {
  ServerOptions o;
  o.max_connections = 2;
  o.local_reserve = 1;
  std::mutex mutex;
  std::vector<Responder> waiting;
  Mailbox<int> arrived;
  ServerFixture f(
      [&](const ServerRequest& r, const Responder& answer) {
        if (r.path == "/fast") return Echo(r, answer);
        std::lock_guard lock(mutex);
        waiting.push_back(answer);
        arrived.Put(1);
      },
      o);
  std::vector<tcp::socket> busy;
  for (size_t i = 0; i < 3; ++i) {
    busy.push_back(f.Connect());
    asio::write(busy.back(), asio::buffer(std::string("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")));
    REQUIRE(arrived.WaitFor(i + 1));  // the third is in the reserve
  }
  tcp::socket refused = f.Connect();
  CHECK(ServerFixture::Rest(refused).empty());
  CHECK(f.server->stats().refused == 1);
  f.loop.executor()->Post([&] {
    for (auto& w : waiting) w.Send(ServerResponse{});
    waiting.clear();
  });
  for (auto& s : busy) CHECK(ServerFixture::Answer(s) == "HTTP/1.1 200 OK ");
}

TEST_CASE("server: a connection without progress is closed") {
  ServerOptions o;
  o.idle = absl::Milliseconds(200);
  ServerFixture f(Echo, o);
  tcp::socket silent = f.Connect(), drips = f.Connect();
  asio::write(drips, asio::buffer(std::string("GET / HTTP/1.1\r\nHo")));
  CHECK(ServerFixture::Rest(silent).empty());
  CHECK(ServerFixture::Rest(drips).empty());
}

TEST_CASE("server: bodies are compressed for those who can read them") {
  ServerFixture f([](const ServerRequest&, const Responder& answer) {
    ServerResponse page;
    page.body = std::string(10'000, 'x');
    page.gzip = true;
    answer.Send(std::move(page));
  });
  CHECK(f.Ask("GET / HTTP/1.0\r\n\r\n").size() > 10'000);
  const std::string packed = f.Ask("GET / HTTP/1.0\r\nAccept-Encoding: deflate, gzip\r\n\r\n");
  CHECK(packed.size() < 1000);
  CHECK_THAT(packed, Catch::Contains("Content-Encoding: gzip\r\n"));
}

TEST_CASE("server: a stream goes to a slow reader up to the limit") {
  struct Source final : StreamSource {
    void Start(StreamWriter* writer) override {
      writer->Send(MakeChunk("first\n"));
      // What Start() sends does not count towards the limit.
      for (int i = 0; i < 100; ++i) writer->Send(MakeChunk(std::string(100'000, 'x')));
      to = writer;
    }
    StreamWriter* to = nullptr;
  };
  ServerOptions o;
  o.stream_bytes = 50'000'000;
  auto source = std::make_shared<Source>();
  Mailbox<int> started;
  ServerFixture f(
      [&](const ServerRequest&, const Responder& answer) {
        ServerResponse head;
        head.stream = std::exchange(source, nullptr);
        source = std::static_pointer_cast<Source>(head.stream);
        answer.Send(std::move(head));
        started.Put(1);
      },
      o);
  tcp::socket reader = f.Connect();
  asio::write(reader, asio::buffer(std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n")));
  REQUIRE(started.WaitFor(1));
  f.loop.executor()->Post([&] {
    for (int i = 0; i < 600; ++i) source->to->Send(MakeChunk(std::string(100'000, 'y')));
  });
  const std::string got = ServerFixture::Rest(reader);
  CHECK_THAT(got, Catch::StartsWith("HTTP/1.1 200 OK\r\n") && Catch::Contains("\r\n\r\n6\r\nfirst\n\r\n"));
  CHECK(f.server->stats().cut == 1);
}

TEST_CASE("server: the scheme of a bearer token is read in any letter case") {
  ServerRequest r;
  CHECK_FALSE(r.BearerToken());
  for (const char* scheme : {"Bearer", "bearer", "BEARER"}) {
    r.headers = {{"AUTHORIZATION", std::string(scheme) + "  abc "}};
    CHECK(r.BearerToken() == "abc");
  }
  r.headers = {{"Authorization", "Basic abc"}};
  CHECK_FALSE(r.BearerToken());
}

}  // namespace berth::http
