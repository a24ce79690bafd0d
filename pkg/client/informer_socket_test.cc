// Tests informers on real sockets, against a server that misbehaves.
#include <algorithm>
#include <catch2/catch.hpp>

#include "pkg/client/fake_server.h"
#include "pkg/client/informer.h"
#include "pkg/client/rest.h"
#include "pkg/client/testing/dialects.h"

namespace berth::client {
namespace {

std::string Node(const std::string& name, int version, const std::string& uid = "u") {
  return R"({"metadata":{"name":")" + name + R"(","uid":")" + uid + R"(","resourceVersion":")" +
         std::to_string(version) + R"("}})";
}

std::string SocketEvent(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

// The server: the answer to a list, and one action for each watch in turn; the last action serves all later watches.
struct SocketWorld {
  SocketWorld()
      : server([this](const FakeRequest& r, FakeServer::Turn& t) {
          bool watch = r.target.find("watch=true") != std::string::npos;
          std::function<void(FakeServer::Turn&)> act;
          std::string answer;
          {
            std::lock_guard<std::mutex> lock(mutex);
            if (watch) {
              act = watches[std::min(watch_count++, watches.size() - 1)];
            } else {
              answer = list;
            }
          }
          if (watch) {
            act(t);
          } else {
            // Chunks of 13 bytes, so that their borders fall anywhere in the JSON.
            t.StartChunks();
            for (size_t i = 0; i < answer.size(); i += 13) t.Chunk(answer.substr(i, 13));
            t.EndChunks();
          }
        }) {}

  void SetList(int version, const std::string& items) {
    std::lock_guard<std::mutex> lock(mutex);
    list = R"({"kind":"NodeList","metadata":{"resourceVersion":")" + std::to_string(version) + R"("},"items":[)" +
           items + "]}\n";
  }

  void Start() {
    RestConfig c;
    c.url = "http://" + server.address();
    c.host = "127.0.0.1";
    c.port = static_cast<uint16_t>(server.port());
    c.qps = -1;
    InformerOptions<api::Node> o;
    o.decode = [](api::Json j) { return api::DecodeNode(j); };
    o.on_batch = [this](InformerBatch<api::Node> b) {
      using Kind = InformerEvent<api::Node>::Kind;
      for (auto& e : b.events) {
        told.Put((e.kind == Kind::kAdded     ? "+"
                  : e.kind == Kind::kUpdated ? "~"
                                             : "-") +
                 e.object->meta.name + e.object->meta.uid);
      }
    };
    o.reflector.retry = absl::Milliseconds(5);
    o.reflector.max_retry = absl::Milliseconds(5);
    io.Run([&] {
      client = *RestClient::New(&executor, c);
      informer =
          std::make_unique<Informer<api::Node>>(&executor, client.get(), ResourceOf<api::Node>(testing::k1_10), o);
      informer->Start();
    });
  }
  ~SocketWorld() {
    io.Run([&] {
      informer.reset();
      client.reset();
    });
    io.Join();
    server.Stop();
  }

  std::mutex mutex;
  std::string list;
  size_t watch_count = 0;
  std::vector<std::function<void(FakeServer::Turn&)>> watches;
  Mailbox<std::string> told;
  FakeServer server;
  IoThread io;
  util::ManualClock clock;  // stands still: each watch lasts less than a second, however long a thread pauses
  http::AsioExecutor executor{&io.executor()->io(), &clock};  // runs on the thread of `io`
  std::unique_ptr<RestClient> client;
  std::unique_ptr<Informer<api::Node>> informer;
};

using Told = std::vector<std::string>;

}  // namespace

TEST_CASE("a watch cut inside an object, and soon, is begun again behind a list") {
  SocketWorld w;
  w.SetList(10, Node("a", 5));
  std::string b = SocketEvent("ADDED", Node("b", 11)), c = SocketEvent("ADDED", Node("c", 12));
  w.watches = {[=, &w](FakeServer::Turn& t) {
                 w.SetList(11, Node("a", 5) + "," + Node("b", 11));
                 t.StartChunks();
                 t.Chunk(b + c.substr(0, c.size() / 2));
                 t.Close();
               },
               [=](FakeServer::Turn& t) {
                 t.StartChunks();
                 for (char x : c) t.Chunk(std::string(1, x));
                 t.Hang();
               }};
  w.Start();
  REQUIRE(w.told.WaitFor(5));
  Told told = w.told.values();
  std::sort(told.begin() + 2, told.begin() + 4);  // what a list repeats comes in no order
  CHECK(told == Told{"+au", "+bu", "~au", "~bu", "+cu"});
  auto seen = w.server.requests();
  REQUIRE(seen.size() == 4);
  CHECK_THAT(seen[2].target, Catch::StartsWith("/api/v1/nodes?limit=500"));
  CHECK_THAT(seen[3].target, Catch::StartsWith("/api/v1/nodes?resourceVersion=11&"));
}

TEST_CASE("every way to refuse a watch leads to a new list") {
  SocketWorld w;
  w.SetList(10, Node("a", 5));
  w.watches = {[](FakeServer::Turn& t) { t.Respond(410, "{}"); },
               [](FakeServer::Turn& t) { t.Respond(500, "oh"); },
               [](FakeServer::Turn& t) {
                 t.Write("HTTP/1.1 2");
                 t.Close();
               },
               [](FakeServer::Turn& t) { t.Write("garbage\r\n\r\n"); },
               [](FakeServer::Turn& t) { t.Respond(200, "<html>"); },
               [](FakeServer::Turn& t) {
                 t.StartChunks();
                 t.EndChunks();
               },
               [](FakeServer::Turn& t) {
                 t.StartChunks();
                 t.Chunk(SocketEvent("ERROR", R"({"kind":"Status","message":"too old","code":410})"));
                 t.Hang();
               },
               [](FakeServer::Turn& t) {
                 t.StartChunks();
                 t.Hang();
               }};
  w.Start();
  // Each refused watch is followed by a new list; the eighth watch stays open.
  REQUIRE(w.server.WaitForRequests(16));
  REQUIRE(w.told.WaitFor(8));
  size_t lists = 0;
  for (auto& r : w.server.requests()) lists += r.target == "/api/v1/nodes?limit=500&resourceVersion=0";
  CHECK(lists == 8);
  CHECK(w.told.values() == Told{"+au", "~au", "~au", "~au", "~au", "~au", "~au", "~au"});
  CHECK(w.informer->stats().watch_failures == 5);
  CHECK(w.informer->stats().short_watches == 2);
}

TEST_CASE("a server that comes back without its state is believed") {
  SocketWorld w;
  // Nobody else gets the server's port while it is down: this socket has the port, too, and never listens.
  boost::asio::io_context unused;
  boost::asio::ip::tcp::socket holds_port(unused, boost::asio::ip::tcp::v4());
  holds_port.set_option(boost::asio::socket_base::reuse_address(true));
  holds_port.bind({boost::asio::ip::address_v4::loopback(), 0});
  const int port = holds_port.local_endpoint().port();
  w.server.Stop();
  w.server.Listen(port);
  w.SetList(100, Node("a", 50) + "," + Node("b", 60));
  w.watches = {[](FakeServer::Turn& t) {
    t.StartChunks();
    t.Hang();
  }};
  w.Start();
  REQUIRE(w.told.WaitFor(2));
  REQUIRE(w.server.WaitForRequests(2));
  w.server.Stop();
  w.SetList(3, Node("b", 2, "new") + "," + Node("c", 3, "new"));
  w.server.Listen(port);
  REQUIRE(w.told.WaitFor(5));
  CHECK(w.told.values() == Told{"+au", "+bu", "~bnew", "+cnew", "-au"});
  CHECK(w.informer->stats().stale_lists == 1);
}

}  // namespace berth::client
