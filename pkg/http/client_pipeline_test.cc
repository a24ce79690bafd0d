// How many connections and system calls small writes share.
#include <algorithm>
#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "pkg/http/client.h"
#include "pkg/http/event_loop.h"
#include "pkg/http/testing/client_fixture.h"
#include "pkg/http/testing/fake_server.h"

namespace berth::http {

TEST_CASE("pipelined writes that come a few at a time need one connection") {
  const util::ManualClock clock;  // stands still: however busy this machine is, the server is fast
  ClientFixture f([](const FakeRequest&, FakeServer::Turn& t) { t.Respond(201, "{}"); }, {}, &clock);
  Mailbox<int> done;
  for (size_t round = 1; round <= 20; ++round) {
    f.io.Run([&] {
      for (int i = 0; i < 4; ++i) {
        Request r;
        r.method = Method::kPost;
        r.target = "/x";
        r.body = "{}";
        r.pipeline = true;
        f.client->Do(r, [&](Reply a) { done.Put(a.status); });
      }
    });
    REQUIRE(done.WaitFor(4 * round));
  }
  for (auto& r : f.server.requests()) CHECK(r.connection == 1);
}

TEST_CASE("pipelined writes that come a few at a time use one connection after a crowd has opened others") {
  const util::ManualClock clock;
  ClientFixture f([](const FakeRequest&, FakeServer::Turn& t) { t.Respond(201, "{}"); }, {}, &clock);
  Mailbox<int> done;
  const auto send = [&](int count) {
    f.io.Run([&] {
      for (int i = 0; i < count; ++i) {
        Request r;
        r.method = Method::kPost;
        r.target = "/x";
        r.body = "{}";
        r.pipeline = true;
        f.client->Do(r, [&](Reply a) { done.Put(a.status); });
      }
    });
  };
  send(100);
  REQUIRE(done.WaitFor(100));
  const auto before = f.server.requests();
  CHECK(std::any_of(before.begin(), before.end(), [](const FakeRequest& r) { return r.connection > 1; }));
  std::set<int> used;
  for (size_t round = 1; round <= 10; ++round) {
    send(4);
    REQUIRE(done.WaitFor(100 + 4 * round));
  }
  const auto after = f.server.requests();
  for (size_t i = before.size(); i < after.size(); ++i) used.insert(after[i].connection);
  CHECK(used.size() == 1);
}

TEST_CASE("pipelined requests that one function makes are written together") {
  namespace asio = boost::asio;
  asio::io_context context;
  asio::ip::tcp::acceptor acceptor(context, {asio::ip::make_address("127.0.0.1"), 0});
  EventLoop loop("loop");
  HttpOptions o;
  o.host = "127.0.0.1";
  o.port = acceptor.local_endpoint().port();
  // However slow the machine is, four requests may be in flight on one connection.
  o.pipeline_connections = o.slow_pipeline_connections = 1;
  auto client = NewHttpClient(loop.executor(), o);
  REQUIRE(client.ok());
  loop.Start();
  Mailbox<int> done;
  const auto send = [&](int count) {
    loop.executor()->Post([&, count] {
      for (int i = 0; i < count; ++i) {
        Request r;
        r.method = Method::kPost;
        r.target = "/x";
        r.body = "{}";
        r.pipeline = true;
        (*client)->Do(r, [&](Reply a) { done.Put(a.status); });
      }
    });
  };
  asio::ip::tcp::socket socket(context);
  const auto answer_all_of_one_read = [&] {
    std::array<char, 65536> bytes;
    const std::string text(bytes.data(), socket.read_some(asio::buffer(bytes)));
    size_t requests = 0;
    for (size_t at = 0; (at = text.find("POST /x", at)) != std::string::npos; ++at) ++requests;
    for (size_t i = 0; i < requests; ++i) {
      asio::write(socket, asio::buffer(std::string("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}")));
    }
    return requests;
  };
  send(1);  // opens the connection
  acceptor.accept(socket);
  CHECK(answer_all_of_one_read() == 1);
  REQUIRE(done.WaitFor(1));
  send(4);
  CHECK(answer_all_of_one_read() == 4);
  REQUIRE(done.WaitFor(5));
  loop.Stop();
}

}  // namespace berth::http
