// What becomes of the bodies of requests and responses.
#include <catch2/catch.hpp>
#include <future>

#include "pkg/http/client.h"
#include "pkg/http/testing/client_fixture.h"
#include "pkg/http/testing/fake_server.h"

namespace berth::http {
namespace {

void SetLimit(HttpOptions& o) {
  o.max_body_bytes = 1000;
}

Request Writing(const std::string& target, const std::string& body) {
  Request r;
  r.method = Method::kPost;
  r.target = target;
  r.body = body;
  return r;
}

}  // namespace

TEST_CASE("a body that nobody wants is counted and dropped, unless the response is an error") {
  ClientFixture f(
      [](const FakeRequest& q, FakeServer::Turn& t) {
        t.Respond(q.target == "/bad" ? 500 : 201, std::string(q.target == "/large" ? 2000 : 900, 'x'));
      },
      SetLimit);
  auto ask = [&](const std::string& target, bool discard) {
    Request r = Writing(target, "{}");
    r.discard_body = discard;
    return f.Ask(std::move(r));
  };
  Reply kept = ask("/x", false), dropped = ask("/x", true), bad = ask("/bad", true);
  CHECK(kept.body.size() == 900);
  CHECK(kept.body_bytes == 900);
  CHECK(dropped.status == 201);
  CHECK(dropped.body.empty());
  CHECK(dropped.body_bytes == 900);
  CHECK(bad.body.size() == 900);
  CHECK(bad.body_bytes == 900);
  CHECK(ask("/large", true).error == "the answer is larger than 1000 bytes");
}

TEST_CASE("a shared request is sent as it is and stays with its owner") {
  ClientFixture f([](const FakeRequest&, FakeServer::Turn& t) { t.Respond(201, "{}"); });
  auto request = std::make_shared<const Request>(Writing("/x", "{\"k\":1}"));
  std::promise<Reply> reply;
  f.executor.Post([&] { f.client->DoShared(request, [&](Reply r) { reply.set_value(std::move(r)); }); });
  CHECK(reply.get_future().get().status == 201);
  CHECK(request->body == "{\"k\":1}");
  CHECK(f.server.requests()[0].body == request->body);
}

}  // namespace berth::http
