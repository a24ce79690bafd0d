// How many connections small writes share.
#include <catch2/catch.hpp>

#include "pkg/http/client.h"
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

}  // namespace berth::http
