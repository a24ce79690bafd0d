// An HTTP client that is connected to a FakeServer.
#pragma once
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "pkg/http/client.h"
#include "pkg/http/testing/fake_server.h"

namespace berth::http {

struct ClientFixture {
  // With a `clock`, the client's deadlines are on that clock.
  explicit ClientFixture(FakeServer::Handler handler, std::function<void(HttpOptions&)> change = {},
                         const util::Clock* clock = nullptr)
      : server(std::move(handler)), executor(&io.executor()->io(), clock) {
    HttpOptions o;
    o.host = "127.0.0.1";
    o.port = static_cast<uint16_t>(server.port());
    if (change) change(o);
    auto made = NewHttpClient(&executor, o, [] { return std::string_view("User-Agent: test\r\n"); });
    REQUIRE(made.ok());
    client = *std::move(made);
  }
  ~ClientFixture() {
    io.Run([&] { client.reset(); });
    io.Join();
  }
  Reply Ask(Request r) { return DoBlocking(&executor, client.get(), std::move(r)); }
  FakeServer server;
  IoThread io;
  AsioExecutor executor;  // runs on the thread of `io`
  std::unique_ptr<HttpClient> client;
};

}  // namespace berth::http
