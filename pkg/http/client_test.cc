#include "pkg/http/client.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "pkg/http/testing/client_fixture.h"
#include "pkg/http/testing/fake_server.h"

namespace berth::http {
namespace {

Request Get(const std::string& target) {
  Request r;
  r.target = target;
  return r;
}

Request Post(const std::string& target, const std::string& body) {
  Request r;
  r.method = Method::kPost;
  r.target = target;
  r.body = body;
  return r;
}

}  // namespace

TEST_CASE("an answer is read whole, with length, in chunks, or up to the end of the connection") {
  ClientFixture f([](const FakeRequest& r, FakeServer::Turn& t) {
    if (r.target == "/length") t.Respond(200, "{\"a\":1}");
    if (r.target == "/chunks") {
      t.StartChunks();
      t.Chunk("{\"a\"");
      t.Chunk(":2}");
      t.EndChunks();
    }
    if (r.target == "/end") {
      t.Write("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nup to the end");
      t.Close();
    }
    if (r.target == "/none") t.Write("HTTP/1.1 204 No Content\r\n\r\n");
    if (r.target == "/interim")
      t.Write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok");
  });
  Reply r = f.Ask(Get("/length"));
  CHECK(r.status == 200);
  CHECK(r.body == "{\"a\":1}");
  CHECK(r.content_type == "application/json");
  CHECK(f.Ask(Get("/chunks")).body == "{\"a\":2}");
  CHECK(f.Ask(Get("/none")).status == 204);
  r = f.Ask(Get("/interim"));
  CHECK(r.status == 201);
  CHECK(r.body == "ok");
  CHECK(f.Ask(Get("/end")).body == "up to the end");
  CHECK(f.Ask(Get("/length")).body == "{\"a\":1}");
  auto seen = f.server.requests();
  REQUIRE(seen.size() == 6);
  CHECK(seen[4].connection == 1);  // kept alive
  CHECK(seen[5].connection == 2);  // a new one after the end
  CHECK(seen[0].headers["host"] == f.server.address());
  CHECK(seen[0].headers["user-agent"] == "test");
  CHECK(seen[0].headers.count("content-length") == 0);
}

TEST_CASE("bodies are sent with their length and type") {
  ClientFixture f([](const FakeRequest&, FakeServer::Turn& t) { t.Respond(201, "{}"); });
  CHECK(f.Ask(Post("/x", "{\"k\":1}")).status == 201);
  Request patch = Post("/y", "{}");
  patch.method = Method::kPatch;
  patch.content_type = "application/strategic-merge-patch+json";
  f.Ask(patch);
  auto seen = f.server.requests();
  CHECK(seen[0].body == "{\"k\":1}");
  CHECK(seen[0].headers["content-type"] == "application/json");
  CHECK(seen[1].method == "PATCH");
  CHECK(seen[1].headers["content-type"] == "application/strategic-merge-patch+json");
}

TEST_CASE("a compressed answer is asked for where that is allowed, and comes inflated") {
  const std::string hello("\x1f\x8b\x08\0\0\0\0\0\x02\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0", 25);
  const auto answer = [&](const FakeRequest& r, FakeServer::Turn& t) {
    t.Respond(200, r.target == "/torn" ? hello.substr(0, 20) : hello, "Content-Encoding: gzip\r\n");
  };
  ClientFixture f(answer);
  Request list = Get("/list");
  list.accepts_gzip = true;
  CHECK(f.Ask(list).body == "hello");
  CHECK(f.Ask(Get("/other")).body == "hello");
  const Reply torn = f.Ask(Get("/torn"));
  CHECK(torn.status == 0);
  CHECK_FALSE(torn.error.empty());
  ClientFixture plain(answer, [](HttpOptions& o) { o.compression = false; });
  CHECK(plain.Ask(list).body == "hello");
  CHECK(f.server.requests()[0].headers["accept-encoding"] == "gzip");
  CHECK(f.server.requests()[1].headers.count("accept-encoding") == 0);
  CHECK(plain.server.requests()[0].headers.count("accept-encoding") == 0);
}

TEST_CASE("a request gets its Retry-After in seconds, if it is a number") {
  ClientFixture f([](const FakeRequest& r, FakeServer::Turn& t) {
    t.Respond(429, "slow down",
              r.target == "/1" ? "Retry-After: 7\r\n" : "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n");
  });
  CHECK(f.Ask(Get("/1")).retry_after == 7);
  CHECK_FALSE(f.Ask(Get("/2")).retry_after.has_value());
}

// The fake server is the proxy; requests are for a server elsewhere.
std::function<void(HttpOptions&)> Through(bool tls, std::string host = "far.invalid", std::string credentials = "",
                                          absl::Duration dial_timeout = absl::Seconds(60)) {
  return [=](HttpOptions& o) {
    o.proxy = ProxyServer{o.host, o.port, credentials};
    o.host = host;
    o.port = 6443;
    o.dial_timeout = dial_timeout;
    if (tls) o.tls.emplace();
  };
}

TEST_CASE("a proxy is asked for the whole URL of what comes without TLS") {
  const auto answer = [](const FakeRequest&, FakeServer::Turn& t) { t.Respond(200, "hello"); };
  ClientFixture f(answer, Through(false, "far.invalid", "me:p@ss"));
  CHECK(f.Ask(Get("/api?a=b")).body == "hello");
  CHECK(f.Ask(Post("/x", "{}")).body == "hello");
  auto seen = f.server.requests();
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].target == "http://far.invalid:6443/api?a=b");
  CHECK(seen[0].headers["host"] == "far.invalid:6443");
  CHECK(seen[0].headers["proxy-authorization"] == "Basic bWU6cEBzcw==");
  CHECK(seen[0].headers["user-agent"] == "test");
  CHECK(seen[1].connection == seen[0].connection);
  ClientFixture v6(answer, Through(false, "fd00::1"));
  CHECK(v6.Ask(Get("/")).body == "hello");
  CHECK(v6.server.requests()[0].target == "http://[fd00::1]:6443/");
  CHECK(v6.server.requests()[0].headers.count("proxy-authorization") == 0);
}

TEST_CASE("a proxy that makes no tunnel is an error that cannot have done anything") {
  const auto error = [](FakeServer::Handler proxy, absl::Duration dial_timeout = absl::Seconds(60)) {
    ClientFixture f(std::move(proxy), Through(true, "far.invalid", "me:p@ss", dial_timeout));
    Reply r = f.Ask(Post("/x", "{}"));
    CHECK(r.status == 0);
    CHECK_FALSE(r.maybe_done);
    REQUIRE(f.server.WaitForRequests(1));
    auto seen = f.server.requests();
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].method == "CONNECT");
    CHECK(seen[0].target == "far.invalid:6443");
    CHECK(seen[0].headers["host"] == "far.invalid:6443");
    CHECK(seen[0].headers["proxy-authorization"] == "Basic bWU6cEBzcw==");
    CHECK(seen[0].headers.count("user-agent") == 0);  // nor anything else that is for the server only
    return r.error;
  };
  using Turn = FakeServer::Turn;
  CHECK(error([](const FakeRequest&, Turn& t) { t.Respond(407, ""); }) == "proxyconnect tcp: the proxy answers 407 X");
  CHECK(error([](const FakeRequest&, Turn& t) { t.Close(); }) == "proxyconnect tcp: EOF");
  CHECK(error([](const FakeRequest&, Turn& t) { t.Write("what?\r\n\r\n"); }) ==
        "proxyconnect tcp: the proxy answers what?");
  CHECK_THAT(error([](const FakeRequest&, Turn& t) {
               for (int i = 0; i < 100; ++i) t.Write(std::string(1000, 'x'));
               t.Hang();
             }),
             Catch::StartsWith("proxyconnect tcp: "));
  CHECK_THAT(error([](const FakeRequest&, Turn& t) { t.Hang(); }, absl::Seconds(6)), Catch::Contains(": i/o timeout"));
  // The proxy accepts the tunnel, but nothing is behind it.
  CHECK_THAT(error([](const FakeRequest&, Turn& t) {
               t.Write("HTTP/1.0 200 OK\r\nVia: x\r\n\r\n");
               t.Close();
             }),
             Catch::StartsWith("tls: "));
  ClientFixture gone([](const FakeRequest&, Turn&) {}, Through(true));
  gone.server.Stop();
  CHECK(gone.Ask(Get("/")).error ==
        "proxyconnect tcp: dial tcp " + gone.server.address() + ": connect: connection refused");
}

TEST_CASE("a server that is not there is an error that cannot have done anything") {
  ClientFixture f([](const FakeRequest&, FakeServer::Turn&) {});
  f.server.Stop();
  Reply r = f.Ask(Post("/x", "{}"));
  CHECK(r.status == 0);
  CHECK(r.error == "dial tcp " + f.server.address() + ": connect: connection refused");
  CHECK_FALSE(r.maybe_done);
}

TEST_CASE("a write whose answer is lost may have been done") {
  ClientFixture f([](const FakeRequest&, FakeServer::Turn& t) { t.Close(); });
  Reply r = f.Ask(Post("/x", "{}"));
  CHECK(r.status == 0);
  CHECK(r.error == "EOF");
  CHECK(r.maybe_done);
  CHECK(f.server.requests().size() == 1);
}

TEST_CASE("an answer cut in the middle is no answer") {
  ClientFixture f([](const FakeRequest& r, FakeServer::Turn& t) {
    if (r.target == "/head") t.Write("HTTP/1.1 200 OK\r\nContent-Le");
    if (r.target == "/body") t.Write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345");
    if (r.target == "/chunk") t.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n12345");
    t.Close();
  });
  for (std::string target : {"/head", "/body", "/chunk"}) {
    Reply r = f.Ask(Get(target));
    CHECK(r.status == 0);
    CHECK(r.error == "unexpected EOF");
  }
}

TEST_CASE("nonsense instead of HTTP is an error") {
  ClientFixture f([](const FakeRequest&, FakeServer::Turn& t) { t.Write("SSH-2.0-OpenSSH_9.2\r\n\r\n"); });
  Reply r = f.Ask(Get("/"));
  CHECK(r.status == 0);
  CHECK_THAT(r.error, Catch::Contains("malformed HTTP response"));
}

TEST_CASE("an answer nobody asked for closes the connection") {
  ClientFixture f([](const FakeRequest&, FakeServer::Turn& t) {
    t.Write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb");
  });
  CHECK(f.Ask(Get("/1")).body == "a");
  CHECK(f.Ask(Get("/2")).body == "a");
  CHECK(f.server.requests()[1].connection == 2);
}

TEST_CASE("a hung server is given up after the timeout, and its connection is not used again") {
  ClientFixture f([](const FakeRequest& r, FakeServer::Turn& t) {
    if (r.target == "/hang") {
      t.Hang();
    } else {
      t.Respond(200, "ok");
    }
  });
  // On a connection that is open already, the request is written before its time begins to run out.
  CHECK(f.Ask(Get("/ok")).body == "ok");
  Request slow = Post("/hang", "{}");
  slow.timeout = absl::Milliseconds(40);
  Reply r = f.Ask(slow);
  CHECK(r.status == 0);
  CHECK(r.error == "no answer within 40ms");
  CHECK(r.maybe_done);
  REQUIRE(f.server.WaitForRequests(2));
  CHECK(f.server.requests().back().connection == 1);
  CHECK(f.Ask(Get("/ok")).body == "ok");
  CHECK(f.server.requests().back().connection == 2);
}

TEST_CASE("an answer larger than allowed is an error") {
  ClientFixture f([](const FakeRequest&, FakeServer::Turn& t) { t.Respond(200, std::string(2000, 'x')); },
                  [](HttpOptions& o) { o.max_body_bytes = 1000; });
  CHECK(f.Ask(Get("/")).error == "the answer is larger than 1000 bytes");
}

TEST_CASE("a GET that met a connection closed while idle is sent again, a POST is not") {
  // Each connection answers one request and closes without an answer at the second.
  ClientFixture f([](const FakeRequest& r, FakeServer::Turn& t) {
    if (r.number == 1) {
      t.Respond(200, "ok");
    } else {
      t.Close();
    }
  });
  CHECK(f.Ask(Get("/1")).ok());
  CHECK(f.Ask(Get("/2")).ok());
  auto seen = f.server.requests();
  REQUIRE(seen.size() == 3);
  CHECK(seen[1].target == "/2");
  CHECK(seen[2].target == "/2");
  Reply r = f.Ask(Post("/3", "{}"));
  CHECK(r.error == "EOF");
  CHECK(r.maybe_done);
  CHECK(f.server.requests().size() == 4);
}

TEST_CASE("a request that met a connection closed while idle is sent again on a new one") {
  // Five connections are opened. Each closes without an answer at its second request, like those of a server that
  // restarted.
  std::atomic<int> first{0};
  ClientFixture f([&](const FakeRequest& r, FakeServer::Turn& t) {
    for (first += r.target == "/first"; first < 5;) std::this_thread::yield();
    r.target == "/later" && r.connection <= 5 ? t.Close() : t.Respond(200, "ok");
  });
  Mailbox<std::string> done;
  f.io.Run([&] {
    for (int i = 0; i < 5; ++i) {
      f.client->Do(Get("/first"), [&](Reply r) { done.Put(r.ok() ? "ok" : r.error); });
    }
  });
  REQUIRE(done.WaitFor(5));
  if (GENERATE(false, true)) {
    std::unique_ptr<Stream> stream;
    f.io.Run([&] {
      stream = f.client->Open(Get("/later"), StreamOptions{},
                              {[](const Reply&) {}, [](std::string_view) {},
                               [&](const std::string& e) { done.Put(e.empty() ? "ok" : e); }});
    });
    REQUIRE(done.WaitFor(6));
    f.io.Run([&] { stream.reset(); });
  } else {
    CHECK(f.Ask(Get("/later")).ok());
    done.Put("ok");
  }
  CHECK(done.values() == std::vector<std::string>(6, "ok"));
  std::vector<bool> fresh;
  for (auto& r : f.server.requests()) {
    if (r.target == "/later") fresh.push_back(r.connection > 5);
  }
  CHECK(fresh == std::vector<bool>{false, true});
}

TEST_CASE("no more connections than allowed, and everyone gets a turn") {
  std::atomic<int> open{0}, most{0};
  ClientFixture f(
      [&](const FakeRequest&, FakeServer::Turn& t) {
        int now = ++open;
        for (int m = most; now > m && !most.compare_exchange_weak(m, now);) {
        }
        t.Respond(200, "ok");
        --open;
      },
      [](HttpOptions& o) { o.max_connections = 3; });
  Mailbox<int> done;
  f.io.Run([&] {
    for (int i = 0; i < 50; ++i) {
      f.client->Do(Get(absl::StrCat("/", i)), [&](Reply r) { done.Put(r.status); });
    }
  });
  REQUIRE(done.WaitFor(50));
  CHECK(done.values() == std::vector<int>(50, 200));
  CHECK(most <= 3);
  for (auto& r : f.server.requests()) CHECK(r.connection <= 3);
}

TEST_CASE("pipelined writes share connections and keep their order on each") {
  ClientFixture f([](const FakeRequest& r, FakeServer::Turn& t) { t.Respond(201, r.body); },
                  [](HttpOptions& o) { o.pipeline_connections = o.slow_pipeline_connections = 2; });
  Mailbox<std::pair<int, std::string>> done;
  f.io.Run([&] {
    for (int i = 0; i < 500; ++i) {
      Request r = Post("/x", std::to_string(i));
      r.pipeline = true;
      f.client->Do(r, [&done, i](Reply a) { done.Put({i, a.body}); });
    }
  });
  REQUIRE(done.WaitFor(500));
  for (auto& [i, body] : done.values()) CHECK(std::to_string(i) == body);
  auto seen = f.server.requests();
  CHECK(seen.size() == 500);
  for (auto& r : seen) CHECK(r.connection <= 2);
}

TEST_CASE("a slow server gets more connections for pipelined requests") {
  std::atomic<int> answered{0};
  ClientFixture f(
      [&](const FakeRequest&, FakeServer::Turn& t) {
        // Each answer takes several milliseconds of the server's time.
        auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(3);
        while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
        t.Respond(201, "{}");
        ++answered;
      },
      [](HttpOptions& o) {
        o.pipeline_connections = 1;
        o.slow_pipeline_connections = 3;
        o.pipeline_depth = 4;
      });
  Mailbox<int> done;
  f.io.Run([&] {
    for (int i = 0; i < 60; ++i) {
      Request r = Post("/x", "{}");
      r.pipeline = true;
      f.client->Do(r, [&](Reply a) { done.Put(a.status); });
    }
  });
  REQUIRE(done.WaitFor(60));
  int most = 0;
  for (auto& r : f.server.requests()) most = std::max(most, r.connection);
  CHECK(most == 3);
}

TEST_CASE("a server that is fast again gets fewer connections for pipelined requests") {
  util::ManualClock clock;  // moves with the answers
  std::atomic<int> millis{5};
  ClientFixture f([&](const FakeRequest&, FakeServer::Turn& t) { t.Respond(201, "{}"); },
                  [](HttpOptions& o) {
                    o.pipeline_connections = 1;
                    o.slow_pipeline_connections = 3;
                    o.pipeline_depth = 4;
                  },
                  &clock);
  Mailbox<int> done;
  const auto post = [&](size_t count) {
    const size_t before = done.values().size();
    f.io.Run([&] {
      for (size_t i = 0; i < count; ++i) {
        Request r = Post("/x", "{}");
        r.pipeline = true;
        f.client->Do(r, [&](Reply a) {
          clock.Advance(absl::Milliseconds(millis.load()));
          done.Put(a.status);
        });
      }
    });
    REQUIRE(done.WaitFor(before + count));
  };
  post(60);
  std::set<int> used;
  for (auto& r : f.server.requests()) used.insert(r.connection);
  CHECK(used.size() == 3);
  // The measured time comes down below a millisecond, and then the first connection is enough.
  millis = 0;
  post(200);
  const size_t seen = f.server.requests().size();
  post(60);
  used.clear();
  const auto requests = f.server.requests();
  for (size_t i = seen; i < requests.size(); ++i) used.insert(requests[i].connection);
  CHECK(used.size() == 1);
}

TEST_CASE("a slow server that answers keeps its pipelined requests, however many wait") {
  // Sixty requests at 30 milliseconds each take several times the timeout. Nothing is given up, because every answer
  // shows that the server is alive; nor is the connection filled with more than it serves in the wanted latency.
  util::ManualClock clock;  // moves only with the answers, however long a thread pauses
  ClientFixture f(
      [&](const FakeRequest&, FakeServer::Turn& t) {
        // Lasts long enough, all in all, for the client to look for what is late.
        auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(4);
        while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
        t.Respond(201, "{}");
      },
      [](HttpOptions& o) {
        o.pipeline_connections = o.slow_pipeline_connections = 1;
        o.request_timeout = absl::Milliseconds(100);
      },
      &clock);
  Mailbox<std::string> done;
  f.io.Run([&] {
    for (int i = 0; i < 60; ++i) {
      Request r = Post("/x", "{}");
      r.pipeline = true;
      f.client->Do(r, [&](Reply a) {
        clock.Advance(absl::Milliseconds(30));
        done.Put(a.error);
      });
    }
  });
  REQUIRE(done.WaitFor(60));
  for (const std::string& error : done.values()) CHECK(error.empty());
  CHECK(f.server.requests().size() == 60);
}

TEST_CASE("a server that stops answering loses its pipelined requests after the timeout") {
  util::ManualClock clock;
  ClientFixture f(
      [&](const FakeRequest& r, FakeServer::Turn& t) {
        if (r.number < 3) {
          t.Respond(201, "{}");
        } else {
          t.Hang();
        }
      },
      [](HttpOptions& o) {
        o.pipeline_connections = o.slow_pipeline_connections = 1;
        o.request_timeout = absl::Milliseconds(100);
      },
      &clock);
  Mailbox<std::string> done;
  f.io.Run([&] {
    for (int i = 0; i < 5; ++i) {
      Request r = Post("/x", "{}");
      r.pipeline = true;
      f.client->Do(r, [&](Reply a) { done.Put(a.error); });
    }
  });
  REQUIRE(done.WaitFor(2));
  clock.Advance(absl::Milliseconds(100));
  REQUIRE(done.WaitFor(5));
  auto errors = done.values();
  CHECK(std::count(errors.begin(), errors.end(), "") == 2);
  CHECK(std::count(errors.begin(), errors.end(), "no answer within 100ms") >= 1);
}

TEST_CASE("few requests are put on a slow server's connection") {
  util::ManualClock clock;  // moves by five milliseconds with each answer
  std::atomic<bool> hang{false};
  ClientFixture f(
      [&](const FakeRequest&, FakeServer::Turn& t) {
        if (hang) return t.Hang();
        t.Respond(201, "{}");
      },
      [](HttpOptions& o) {
        o.pipeline_connections = o.slow_pipeline_connections = 1;
        o.pipeline_latency = absl::Milliseconds(10);
      },
      &clock);
  Mailbox<Reply> done;
  const auto post = [&](int n) {
    f.io.Run([&] {
      for (int i = 0; i < n; ++i) {
        Request r = Post("/x", "{}");
        r.pipeline = true;
        r.timeout = absl::Milliseconds(200);
        f.client->Do(r, [&](Reply a) {
          clock.Advance(absl::Milliseconds(5));
          done.Put(std::move(a));
        });
      }
    });
  };
  post(40);  // lets the client measure how slow this server is
  REQUIRE(done.WaitFor(40));
  hang = true;
  post(40);
  REQUIRE(f.server.WaitForRequests(41));
  clock.Advance(absl::Milliseconds(200));
  REQUIRE(done.WaitFor(80));
  auto all = done.values();
  // What was on a connection when it was given up may have been done: at most four requests, and four more when the
  // next connection was opened just before the rest timed out. The others were never sent.
  CHECK(std::count_if(all.begin(), all.end(), [](const Reply& r) { return r.maybe_done; }) <= 8);
}

TEST_CASE("what is pipelined behind a cut answer may have been done; behind Connection: close it is sent again") {
  ClientFixture f(
      [](const FakeRequest& r, FakeServer::Turn& t) {
        if (r.body == "cut") {
          t.Close();
        } else if (r.body == "last") {
          t.Respond(201, r.body, "Connection: close\r\n");
          t.Close();
        } else {
          t.Respond(201, r.body);
        }
      },
      [](HttpOptions& o) { o.pipeline_connections = o.slow_pipeline_connections = 1; });
  auto run = [&](std::vector<std::string> bodies) {
    auto done = std::make_shared<Mailbox<std::string>>();
    f.io.Run([&] {
      for (auto& b : bodies) {
        Request r = Post("/x", b);
        r.pipeline = true;
        f.client->Do(
            r, [done](Reply a) { done->Put(a.status != 0 ? a.body : a.error + (a.maybe_done ? " maybe" : " no")); });
      }
    });
    CHECK(done->WaitFor(bodies.size()));
    return done->values();
  };
  CHECK(run({"a", "cut", "b"}) == std::vector<std::string>{"a", "EOF maybe", "EOF maybe"});
  CHECK(run({"c", "last", "d", "e"}) == std::vector<std::string>{"c", "last", "d", "e"});
}

TEST_CASE("what may not be sent any more when its turn comes is not sent") {
  bool may = true;  // used on the I/O thread
  ClientFixture f([](const FakeRequest& r, FakeServer::Turn& t) { t.Respond(201, r.body); },
                  [](HttpOptions& o) {
                    o.max_connections = 1;
                    o.pipeline_connections = o.slow_pipeline_connections = 1;
                    o.pipeline_depth = 1;
                  });
  Mailbox<std::string> done;
  f.io.Run([&] {
    for (bool pipeline : {false, true}) {
      for (const char* body : {"first", "second"}) {
        Request r = Post("/x", body);
        r.pipeline = pipeline;
        r.may_send = [&may] { return may; };
        // After the first answer, no further request may be sent.
        f.client->Do(r, [&](Reply a) {
          may = false;
          done.Put(a.status != 0 ? a.body : a.error + (a.maybe_done ? " maybe" : ""));
        });
      }
    }
  });
  REQUIRE(done.WaitFor(4));
  auto values = done.values();
  CHECK(std::count(values.begin(), values.end(), "not sent: its time is over") >= 2);
  CHECK(f.server.requests().size() + std::count(values.begin(), values.end(), "not sent: its time is over") == 4);
}

TEST_CASE("what may not be sent any more when its connection stands is not sent") {
  int asked = 0;
  ClientFixture f([](const FakeRequest& r, FakeServer::Turn& t) { t.Respond(201, r.body); }, [](HttpOptions&) {});
  Mailbox<std::string> done;
  f.io.Run([&] {
    Request r = Post("/x", "x");
    r.may_send = [&asked] { return ++asked == 1; };  // true before the connection is opened, false afterwards
    f.client->Do(r, [&](Reply a) { done.Put(a.status != 0 ? a.body : a.error + (a.maybe_done ? " maybe" : "")); });
  });
  REQUIRE(done.WaitFor(1));
  CHECK(done.values() == std::vector<std::string>{"not sent: its time is over"});
  CHECK(f.server.requests().empty());
}

TEST_CASE("a stream hands pieces over as they come and ends") {
  ClientFixture f([](const FakeRequest& r, FakeServer::Turn& t) {
    if (r.target == "/error") {
      t.Respond(410, "{\"kind\":\"Status\"}");
      return;
    }
    if (r.target == "/quiet") {
      // All at once, so that the silence begins behind it.
      t.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n");
      return t.Hang();
    }
    t.StartChunks();
    t.Chunk("one");
    t.Chunk("two");
    if (r.target == "/good") t.EndChunks();
    if (r.target == "/cut") t.Close();
  });
  auto run = [&](const std::string& target) {
    auto log = std::make_shared<Mailbox<std::string>>();
    auto ended = std::make_shared<Mailbox<int>>();
    std::unique_ptr<Stream> stream;
    f.io.Run([&] {
      StreamOptions o;
      o.idle_timeout = target == "/quiet" ? absl::Milliseconds(50) : absl::Seconds(60);
      auto data = std::make_shared<std::string>();
      stream = f.client->Open(Get(target), o,
                              {[log](const Reply& h) { log->Put(std::to_string(h.status) + h.body); },
                               [data](std::string_view d) { data->append(d); },
                               [log, data, ended](const std::string& e) {
                                 log->Put(*data);
                                 log->Put(e);
                                 ended->Put(1);
                               }});
    });
    CHECK(ended->WaitFor(1));
    f.io.Run([&] { stream.reset(); });
    return log->values();
  };
  using Log = std::vector<std::string>;
  CHECK(run("/good") == Log{"200", "onetwo", ""});
  CHECK(run("/good") == Log{"200", "onetwo", ""});
  CHECK(f.server.requests()[1].connection == 1);  // a stream that ended well leaves a good connection
  CHECK(run("/cut") == Log{"200", "onetwo", "unexpected EOF"});
  CHECK(run("/quiet") == Log{"200", "onetwo", "no data for 50ms"});
  CHECK(run("/error") == Log{"410{\"kind\":\"Status\"}", "", ""});
  f.server.Stop();
  CHECK(run("/gone") == Log{"", "dial tcp " + f.server.address() + ": connect: connection refused"});
}

TEST_CASE("a stream may be cancelled from inside its handlers, and hangs up") {
  Mailbox<int> hung_up;
  ClientFixture f([&](const FakeRequest&, FakeServer::Turn& t) {
    t.StartChunks();
    t.Chunk("one");
    t.Hang();
    hung_up.Put(1);
  });
  Mailbox<std::string> log;
  std::unique_ptr<Stream> stream;
  f.io.Run([&] {
    stream = f.client->Open(Get("/"), {},
                            {{},
                             [&](std::string_view d) {
                               log.Put(std::string(d));
                               stream.reset();
                             },
                             [&](const std::string&) { log.Put("end"); }});
  });
  REQUIRE(hung_up.WaitFor(1));
  f.io.Run([] {});
  CHECK(log.values() == std::vector<std::string>{"one"});
}

TEST_CASE("nothing is called after the client is gone") {
  std::atomic<int> calls{0};
  FakeServer server([](const FakeRequest&, FakeServer::Turn& t) { t.Hang(); });
  IoThread io;
  HttpOptions o;
  o.host = "127.0.0.1";
  o.port = static_cast<uint16_t>(server.port());
  auto client = NewHttpClient(io.executor(), o);
  REQUIRE(client.ok());
  io.Run([&] {
    for (int i = 0; i < 5; ++i) (*client)->Do(Get("/"), [&](Reply) { ++calls; });
  });
  REQUIRE(server.WaitForRequests(5));
  io.Run([&] { client->reset(); });
  io.Run([] {});
  CHECK(calls == 0);
}

TEST_CASE("percent encoding keeps what is unreserved") {
  CHECK(PercentEncode("status.phase!=Failed,status.phase!=Succeeded") ==
        "status.phase%21%3DFailed%2Cstatus.phase%21%3DSucceeded");
  CHECK(PercentEncode("aZ09-_.~ /\xc3\xa9") == "aZ09-_.~%20%2F%C3%A9");
}

}  // namespace berth::http
