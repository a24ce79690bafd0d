#include "pkg/client/informer.h"
#include "pkg/client/testing/dialects.h"

#include <catch2/catch.hpp>

#include "pkg/client/fake_api.h"
#include "pkg/client/manual_executor.h"

namespace berth::client {
namespace {

std::string Node(const std::string& name, const std::string& version, const std::string& uid = "u",
                 const std::string& cpu = "1") {
  return R"({"metadata":{"name":")" + name + R"(","uid":")" + uid + R"(","resourceVersion":")" + version +
         R"("},"status":{"allocatable":{"cpu":")" + cpu + R"("}}})";
}

std::string List(const std::string& version, std::vector<std::string> items, const std::string& next = "") {
  std::string out = R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":")" + version + "\"" +
                    (next.empty() ? "" : R"(,"continue":")" + next + "\"") + R"(},"items":[)";
  for (size_t i = 0; i < items.size(); ++i) out += (i ? "," : "") + items[i];
  return out + "]}\n";
}

std::string EventText(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

const char kTooOld[] =
    R"x({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)x"
    R"x("message":"too old resource version: 1 (556)","reason":"Gone","code":410}})x";

// An informer of nodes on a fake server. Told() returns what its consumer was told: "+n1" added, "~n1" updated, "-n1"
// deleted, "!" the initial list is complete, "|" the end of a batch.
struct InformerFixture {
  explicit InformerFixture(Resource resource = ResourceOf<api::Node>(testing::k1_10), bool drop_heartbeats = false,
                           bool optional = false) {
    InformerOptions<api::Node> o;
    o.decode = [](api::Json j) { return api::DecodeNode(j); };
    o.on_batch = [this](InformerBatch<api::Node> b) {
      for (auto& e : b.events) {
        using Kind = InformerEvent<api::Node>::Kind;
        told += (e.kind == Kind::kAdded ? "+" : e.kind == Kind::kUpdated ? "~" : "-") + e.object->meta.name;
        if (e.old_object && e.old_object->meta.uid != e.object->meta.uid) told += "(other uid)";
        last = e;
      }
      told += b.initial_list_done ? "!" : "|";
    };
    if (drop_heartbeats) {
      o.unchanged = [](const api::Node& a, const api::Node& b) { return a.SchedulesLike(b); };
    }
    o.reflector.random = [] { return 0.5; };
    o.reflector.optional = optional;
    informer = std::make_unique<Informer<api::Node>>(&executor, &api, std::move(resource), std::move(o));
    informer->Start();
  }
  std::string Told() { return std::exchange(told, {}); }
  // Lists n1 and n2 and opens a watch from resource version 10.
  void Begin() {
    api.Serve(200, List("10", {Node("n1", "5"), Node("n2", "6")}));
    REQUIRE(Told() == "+n1+n2!");
    api.Head(200);
    executor.Advance(absl::Seconds(2));
  }

  ManualExecutor executor;
  FakeApi api;
  std::string told;
  InformerEvent<api::Node> last;
  std::unique_ptr<Informer<api::Node>> informer;
};

}  // namespace

TEST_CASE("a list, then a watch from its version") {
  InformerFixture f;
  CHECK(f.api.target() == "/api/v1/nodes?limit=500&resourceVersion=0");
  CHECK(f.api.last().request.throttled);
  CHECK_FALSE(f.informer->HasSynced());
  f.api.Serve(200, List("10", {Node("n1", "5"), Node("n2", "6")}));
  CHECK(f.Told() == "+n1+n2!");
  CHECK(f.informer->HasSynced());
  CHECK(f.informer->size() == 2);
  CHECK(f.api.target() == "/api/v1/nodes?resourceVersion=10&timeoutSeconds=450&watch=true");
  CHECK_FALSE(f.api.last().request.throttled);
  CHECK(f.api.last().options.idle_timeout == absl::Seconds(480));
  f.api.Head(200);
  f.api.Data(EventText("ADDED", Node("n3", "11")) + EventText("MODIFIED", Node("n1", "12")) +
             EventText("DELETED", Node("n2", "13")));
  CHECK(f.Told() == "+n3~n1-n2|");
  CHECK(f.informer->size() == 2);
  CHECK(f.informer->Find({}, "n1")->meta.resource_version == "12");
  CHECK(f.informer->Find({}, "n2") == nullptr);
  CHECK(f.informer->stats().events == 3);
  CHECK(f.informer->stats().watching);
}

TEST_CASE("pods are listed with the fixed selector, its terms encoded") {
  InformerFixture f(ResourceOf<api::Pod>(testing::k1_10));
  CHECK(
      f.api.target() ==
      "/api/v1/pods?fieldSelector=status.phase%21%3DFailed%2Cstatus.phase%21%3DSucceeded&limit=500&resourceVersion=0");
  f.api.Serve(200, List("10", {}));
  CHECK(f.Told() == "!");
  CHECK(f.api.target() ==
        "/api/v1/pods?fieldSelector=status.phase%21%3DFailed%2Cstatus.phase%21%3DSucceeded&resourceVersion=10"
        "&timeoutSeconds=450&watch=true");
}

TEST_CASE("watch lengths are between 300 and 600 seconds") {
  for (auto [random, seconds] : {std::pair(0.0, "300"), std::pair(0.9999, "599")}) {
    ManualExecutor executor;
    FakeApi api;
    InformerOptions<api::Node> o;
    o.decode = [](api::Json j) { return api::DecodeNode(j); };
    o.on_batch = [](InformerBatch<api::Node>) {};
    o.reflector.random = [r = random] { return r; };
    Informer<api::Node> informer(&executor, &api, ResourceOf<api::Node>(testing::k1_10), o);
    informer.Start();
    api.Serve(200, List("1", {}));
    CHECK_THAT(api.target(), Catch::Contains(absl::StrCat("timeoutSeconds=", seconds, "&")));
  }
}

TEST_CASE("in the form of release 1.29, watches ask for bookmarks, and lists go on from the last version") {
  InformerFixture f(ResourceOf<api::Node>(testing::kCurrent));
  CHECK(f.api.target() == "/api/v1/nodes?limit=500&resourceVersion=0");
  f.Begin();
  const std::string watch =
      "/api/v1/nodes?allowWatchBookmarks=true&resourceVersion=10&timeout=7m30s&timeoutSeconds=450&watch=true";
  CHECK(f.api.target() == watch);
  SECTION("an expired watch") {
    f.api.Data(kTooOld);
    f.executor.Advance(absl::Seconds(2));
    CHECK(f.api.target() == "/api/v1/nodes?resourceVersion=10");
    SECTION("of a server that has restarted without its data") {
      f.api.Serve(504, R"({"kind":"Status","message":"Too large resource version: 10, current: 3","code":504})");
      CHECK(f.api.target() == "/api/v1/nodes?limit=500");
      f.api.Serve(200, List("3", {Node("n1", "2")}));
      CHECK(f.Told() == "~n1-n2|");
    }
    SECTION("of a server that has forgotten old versions") {
      f.api.Serve(410, R"({"kind":"Status","message":"The resourceVersion is too old","code":410})");
      CHECK(f.api.target() == "/api/v1/nodes?limit=500");
    }
  }
  SECTION("a server that is overloaded when the watch is opened again") {
    f.api.End();
    f.api.Serve(429, R"({"kind":"Status","message":"too many requests","code":429})");
    f.executor.Advance(absl::Seconds(2));
    CHECK(f.api.target() == watch);
  }
}

TEST_CASE("pages are followed, and delivered as one list") {
  InformerFixture f;
  f.api.Serve(200, List("10", {Node("n1", "5")}, "abc=/"));
  CHECK(f.Told() == "");
  CHECK(f.api.target() == "/api/v1/nodes?continue=abc%3D%2F&limit=500&resourceVersion=0");
  f.api.Serve(200, List("10", {Node("n2", "6")}));
  CHECK(f.Told() == "+n1+n2!");
}

TEST_CASE("a page that has expired leads to one full list") {
  InformerFixture f;
  f.api.Serve(200, List("10", {Node("n1", "5"), Node("gone", "4")}, "abc"));
  f.api.Serve(410, R"({"kind":"Status","status":"Failure","reason":"Expired","message":"expired","code":410})");
  CHECK(f.api.target() == "/api/v1/nodes?resourceVersion=0");
  f.api.Serve(200, List("12", {Node("n1", "5"), Node("n2", "11")}));
  CHECK(f.Told() == "+n1+gone~n1+n2-gone!");
  CHECK(f.informer->size() == 2);
}

TEST_CASE("a stream that ends is watched on from the last version, without a list") {
  InformerFixture f;
  f.Begin();
  f.api.Data(EventText("MODIFIED", Node("n1", "17")));
  f.api.End(GENERATE(std::string(), std::string("unexpected EOF")));
  CHECK_THAT(f.api.target(), Catch::StartsWith("/api/v1/nodes?resourceVersion=17&"));
  CHECK(f.api.calls.size() == 3);
}

TEST_CASE("objects may lie across pieces, and a cut inside one loses nothing") {
  InformerFixture f;
  f.Begin();
  std::string text = EventText("MODIFIED", Node("n1", "17")) + EventText("ADDED", Node("n3", "18"));
  for (char c : text.substr(0, text.size() - 10)) f.api.Data(std::string(1, c));
  CHECK(f.Told() == "~n1|");
  f.api.End("unexpected EOF");
  CHECK_THAT(f.api.target(), Catch::StartsWith("/api/v1/nodes?resourceVersion=17&"));
  f.api.Head(200);
  f.api.Data(EventText("ADDED", Node("n3", "18")));
  CHECK(f.Told() == "+n3|");
}

TEST_CASE("a very short watch is a reason to list again, after a second") {
  InformerFixture f;
  f.api.Serve(200, List("10", {Node("n1", "5")}));
  f.Told();
  f.api.Head(200);
  f.executor.Advance(absl::Milliseconds(999));
  f.api.End();
  CHECK(f.informer->stats().short_watches == 1);
  CHECK(f.api.calls.size() == 2);
  f.executor.Advance(absl::Milliseconds(999));
  CHECK(f.api.calls.size() == 2);
  f.executor.Advance(absl::Milliseconds(200));
  REQUIRE(f.api.calls.size() == 3);
  CHECK(f.api.target() == "/api/v1/nodes?limit=500&resourceVersion=0");
}

TEST_CASE("a server that ends each watch after one event is asked once a second") {
  InformerFixture f;
  f.api.Serve(200, List("10", {}));
  f.api.Head(200);
  f.api.Data(EventText("ADDED", Node("n1", "11")));
  f.api.End();
  CHECK(f.api.calls.size() == 2);
  f.executor.Advance(absl::Seconds(1));
  CHECK(f.api.calls.size() == 3);
  CHECK_THAT(f.api.target(), Catch::StartsWith("/api/v1/nodes?resourceVersion=11&"));
}

TEST_CASE("too old: after a second a list, of which the consumer hears the difference") {
  InformerFixture f;
  f.Begin();
  SECTION("as an event") {
    f.api.Data(std::string(kTooOld) + EventText("ADDED", Node("never", "11")));
    CHECK(f.api.last().cancelled == false);  // closed soon, not inside its own handler
    f.executor.Run();
    CHECK(f.api.last().cancelled);
  }
  SECTION("as the answer") {
    f.api.End();
    f.api.Serve(410, "gone");
  }
  CHECK(f.Told() == "");
  size_t calls = f.api.calls.size();
  f.executor.Advance(absl::Milliseconds(900));
  CHECK(f.api.calls.size() == calls);
  f.executor.Advance(absl::Milliseconds(300));
  CHECK(f.api.target() == "/api/v1/nodes?limit=500&resourceVersion=0");
  // n1 is unchanged, n2 is gone, n3 is new.
  f.api.Serve(200, List("20", {Node("n1", "5"), Node("n3", "15")}));
  CHECK(f.Told() == "~n1+n3-n2|");
  CHECK(f.informer->HasSynced());
}

TEST_CASE("objects that a list no longer has are deleted in the order of their names") {
  InformerFixture f;
  std::vector<std::string> nodes;
  std::string deleted;
  for (int i = 10; i < 60; ++i) {
    nodes.push_back(Node(absl::StrCat("n", i), "5"));
    absl::StrAppend(&deleted, "-n", i);
  }
  f.api.Serve(200, List("10", nodes));
  f.Told();
  f.api.Head(200);
  f.executor.Advance(absl::Seconds(2));
  f.api.Data(kTooOld);
  f.executor.Advance(absl::Seconds(2));
  f.api.Serve(200, List("20", {}));
  CHECK(f.Told() == deleted + "|");
}

TEST_CASE("an object deleted and made again while nobody looked is one update with another uid") {
  InformerFixture f;
  f.Begin();
  f.api.Data(kTooOld);
  f.executor.Advance(absl::Seconds(2));
  f.api.Serve(200, List("20", {Node("n1", "15", "other"), Node("n2", "6")}));
  CHECK(f.Told() == "~n1(other uid)~n2|");
}

TEST_CASE("a list older than what was seen is not believed but read from the store") {
  InformerFixture f;
  f.Begin();
  f.api.Data(EventText("ADDED", Node("n3", "18")));
  f.Told();
  f.api.Data(kTooOld);
  f.executor.Advance(absl::Seconds(2));
  std::string stale = GENERATE(List("12", {Node("n1", "5")}), List("12", {}));
  f.api.Serve(200, stale);
  CHECK(f.Told() == "");
  CHECK(f.api.target() == "/api/v1/nodes");
  CHECK(f.informer->stats().stale_lists == 1);
  SECTION("the store is ahead") {
    f.api.Serve(200, List("18", {Node("n1", "5"), Node("n2", "6"), Node("n3", "18")}));
    CHECK(f.Told() == "~n1~n2~n3|");
  }
  SECTION("the server lost its state: the truth, though older") {
    f.api.Serve(200, List("3", {Node("n1", "2", "other")}));
    CHECK_THAT(f.Told(), Catch::StartsWith("~n1(other uid)-n"));
    CHECK(f.informer->size() == 1);
  }
  CHECK_THAT(f.api.target(), Catch::Contains("watch=true"));
}

TEST_CASE("what a list showed before it failed is not taken back by an older list") {
  // The objects of a list are shown as they arrive. The second attempt may be answered by a server that is behind.
  InformerFixture f;
  f.Begin();
  f.api.Data(kTooOld);
  f.executor.Advance(absl::Seconds(2));
  const std::string whole = List("20", {Node("n1", "15"), Node("n2", "16")});
  f.api.Head(200);
  f.api.Data(whole.substr(0, whole.size() - 30));
  f.api.End("unexpected EOF");
  CHECK(f.informer->Find({}, "n1")->meta.resource_version == "15");
  const size_t calls = f.api.calls.size();
  f.executor.Advance(absl::Seconds(3));
  REQUIRE(f.api.calls.size() == calls + 1);
  CHECK(f.api.target() == "/api/v1/nodes?limit=500&resourceVersion=0");
  f.api.Serve(200, List("12", {Node("n1", "5"), Node("n2", "6")}));
  CHECK(f.informer->Find({}, "n1")->meta.resource_version == "15");
  CHECK(f.informer->stats().stale_lists == 1);
  CHECK(f.api.target() == "/api/v1/nodes");
  f.api.Serve(200, whole);
  CHECK_THAT(f.api.target(), Catch::StartsWith("/api/v1/nodes?resourceVersion=20&"));
}

TEST_CASE("a watch that is torn soon is a reason to list again, after a second") {
  InformerFixture f;
  f.api.Serve(200, List("10", {Node("n1", "5")}));
  f.api.Head(200);
  f.api.Data(EventText("ADDED", Node("n2", "11")));
  CHECK(f.Told() == "+n1!+n2|");
  f.executor.Advance(absl::Milliseconds(400));
  f.api.End("unexpected EOF");
  f.executor.Advance(absl::Milliseconds(599));
  CHECK(f.api.calls.size() == 2);
  f.executor.Advance(absl::Milliseconds(1));
  CHECK(f.api.target() == "/api/v1/nodes?limit=500&resourceVersion=0");
}

TEST_CASE("behind a torn watch the server is asked how far it is, until it says so") {
  InformerFixture f;
  f.Begin();
  f.api.End("unexpected EOF");
  auto watch = f.api.calls.back();
  CHECK(watch->request.target == "/api/v1/nodes?resourceVersion=10&timeoutSeconds=450&watch=true");
  f.api.Head(200);
  f.executor.Advance(absl::Milliseconds(200));
  CHECK(f.api.target() == "/api/v1/nodes?limit=1");
  f.api.Answer(500);
  // An event of the watch does not show whether an earlier one was left out, so the question is asked again.
  f.api.Data(EventText("ADDED", Node("n9", "12")), watch);
  CHECK(f.Told() == "+n9|");
  f.executor.Advance(absl::Milliseconds(400));
  CHECK(f.api.calls.size() == 5);
  f.api.Break("EOF");
  f.executor.Advance(absl::Milliseconds(800));
  CHECK(f.api.calls.size() == 6);
  SECTION("it has lost its data") {
    f.api.Answer(200, List("7", {}));
    CHECK(f.api.target() == "/api/v1/nodes");
    f.api.Serve(200, List("8", {Node("n1", "5"), Node("n2", "6")}));
    CHECK(f.Told() == "~n1~n2-n9|");
    CHECK(f.api.target() == "/api/v1/nodes?resourceVersion=8&timeoutSeconds=450&watch=true");
  }
  SECTION("it has not") {
    f.api.Answer(200, List("10", {}));
    f.executor.Advance(absl::Seconds(60));
    CHECK(f.api.calls.size() == 6);
    CHECK_FALSE(watch->cancelled);
  }
}

TEST_CASE("a probe that fails after its watch has ended does not stop the informer") {
  InformerFixture f;
  f.Begin();
  f.api.End("unexpected EOF");
  auto watch = f.api.calls.back();
  f.api.Head(200);
  f.executor.Advance(absl::Milliseconds(200));
  auto probe = f.api.calls.back();
  REQUIRE(probe->request.target == "/api/v1/nodes?limit=1");
  f.api.Data(EventText("ADDED", Node("n9", "12")), watch);
  f.api.End("unexpected EOF", watch);  // a list follows in 800 ms
  f.api.Answer(500, "{}", probe);
  f.executor.Advance(absl::Milliseconds(900));
  CHECK(f.api.target() == "/api/v1/nodes?limit=500&resourceVersion=0");
  f.api.Serve(200, List("20", {Node("n1", "5")}));
  CHECK(f.Told() == "+n9|~n1-n2-n9|");
}

TEST_CASE("a list as old as what was seen is believed") {
  InformerFixture f;
  f.Begin();
  f.api.Data(kTooOld);
  f.executor.Advance(absl::Seconds(2));
  f.api.Serve(200, List("10", {Node("n1", "5"), Node("n2", "6")}));
  CHECK(f.Told() == "~n1~n2|");
  CHECK(f.informer->stats().stale_lists == 0);
}

TEST_CASE("a first page that has expired is a failed list like any other") {
  InformerFixture f;
  f.api.Serve(410, "gone");
  CHECK(f.api.calls.size() == 1);
  f.executor.Advance(absl::Seconds(2));
  CHECK(f.api.calls.size() == 2);
  CHECK(f.api.target() == "/api/v1/nodes?limit=500&resourceVersion=0");
}

TEST_CASE("a failed list is tried again later and later, with a bound") {
  InformerFixture f;
  std::vector<double> waits;
  std::vector<std::function<void()>> failures = {
      [&] { f.api.Serve(500, "injected"); },
      [&] { f.api.End("dial tcp 10.0.0.1:6443: connect: connection refused"); },
      [&] { f.api.Serve(200, "<html>it works</html>"); },
      [&] {
        f.api.Head(200);
        f.api.Data(List("10", {Node("n1", "5")}).substr(0, 120));
        f.api.End("unexpected EOF");
      },
      [&] {
        f.api.Head(200);
        f.api.Data("{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[");
        f.api.End();
      },
      [&] { f.api.Serve(200, "{\"items\":[]}"); },
      [&] { f.api.Serve(403, R"({"kind":"Status","message":"nodes is forbidden","reason":"Forbidden","code":403})"); },
  };
  for (auto& fail : failures) {
    fail();
    f.executor.Run();
    waits.push_back(absl::ToDoubleSeconds(f.executor.NextTimer()));
    f.executor.Advance(f.executor.NextTimer());
    CHECK(f.api.target() == "/api/v1/nodes?limit=500&resourceVersion=0");
  }
  CHECK(f.Told() == "");
  // The jitter adds up to 20 %; with random() at 0.5 it adds 10 %.
  std::vector<double> wanted = {1.1, 2.2, 4.4, 8.8, 11, 11, 11};
  REQUIRE(waits.size() == wanted.size());
  for (size_t i = 0; i < waits.size(); ++i) CHECK(waits[i] == Approx(wanted[i]));
  CHECK(f.informer->stats().list_failures == 7);
  // A successful watch resets the wait.
  f.api.Serve(200, List("10", {}));
  f.api.Head(200);
  f.executor.Advance(absl::Seconds(2));
  f.api.Data(kTooOld);
  f.executor.Run();
  CHECK(f.executor.NextTimer() == absl::Milliseconds(1100));
}

TEST_CASE("a server that says when to come again is asked then") {
  InformerFixture f;
  f.api.Head(500, "injected");
  f.api.End();
  f.executor.Advance(absl::Milliseconds(1100));
  REQUIRE(f.api.calls.size() == 2);
  for (auto [seconds, wait] : {std::pair(1, 1), std::pair(30, 30), std::pair(3600, 30), std::pair(0, 1)}) {
    f.api.Head(seconds >= 30 ? 503 : 429, "Too many requests", nullptr, seconds);
    f.api.End();
    f.executor.Run();
    CHECK(f.executor.NextTimer() == absl::Seconds(wait));
    f.executor.Advance(absl::Seconds(wait));
    CHECK(f.api.target() == "/api/v1/nodes?limit=500&resourceVersion=0");
  }
  // Retry-After is ignored for other answers. The waits that the server asked for did not lengthen the back-off.
  f.api.Head(403, "{}", nullptr, 30);
  f.api.End();
  f.executor.Run();
  CHECK(f.executor.NextTimer() == absl::Milliseconds(2200));
}

TEST_CASE("after a torn watch a list tells how far the server is") {
  InformerFixture f;
  f.Begin();
  f.api.End("unexpected EOF");
  f.api.Serve(410, "{}");
  f.executor.Advance(absl::Milliseconds(1100));
  CHECK(f.api.target() == "/api/v1/nodes?limit=500&resourceVersion=0");
  f.api.Serve(200, List("10", {Node("n1", "5")}));
  f.api.Head(200);
  size_t calls = f.api.calls.size();
  f.executor.Advance(absl::Seconds(60));
  CHECK(f.api.calls.size() == calls);
}

TEST_CASE("after a torn watch without a list the server is asked how far it is") {
  InformerFixture f;
  f.Begin();
  f.api.End("unexpected EOF");
  f.api.Head(200);
  size_t calls = f.api.calls.size();
  f.executor.Advance(absl::Milliseconds(199));
  CHECK(f.api.calls.size() == calls);
  f.executor.Advance(absl::Milliseconds(1));
  REQUIRE(f.api.calls.size() == calls + 1);
  CHECK(f.api.target() == "/api/v1/nodes?limit=1");
  SECTION("it is as far as it was") {
    f.api.Answer(200, List("10", {Node("n1", "5")}));
    f.executor.Advance(absl::Seconds(60));
    CHECK(f.api.calls.size() == calls + 1);
  }
  SECTION("it has forgotten") {
    f.api.Answer(200, List("9", {}));
    CHECK(f.api.target() == "/api/v1/nodes");
    f.api.Serve(200, List("9", {}));
    CHECK(f.Told() == "-n1-n2|");
    f.executor.Advance(absl::Seconds(60));
    CHECK_THAT(f.api.target(), Catch::StartsWith("/api/v1/nodes?resourceVersion=9&"));
  }
}

TEST_CASE("bad objects are skipped, the others go on") {
  InformerFixture f;
  std::string bad = R"({"metadata":{"name":"n2","resourceVersion":"6"},"status":{"allocatable":{"cpu":"12x"}}})";
  f.api.Serve(200, List("10", {Node("n1", "5"), bad, "{}", Node("n3", "7")}));
  CHECK(f.Told() == "+n1+n3!");
  CHECK(f.informer->stats().undecodable == 2);
  f.api.Head(200);
  f.executor.Advance(absl::Seconds(2));
  f.api.Data(EventText("MODIFIED", bad) + EventText("STRANGE", Node("n9", "11")) + "{\"type\":}" +
             EventText("ADDED", "7") + EventText("ADDED", Node("n4", "12")));
  CHECK(f.Told() == "+n4|");
  CHECK(f.informer->stats().undecodable == 6);
  // The last good version of an object that cannot be decoded is kept, also over a new list.
  f.api.Data(EventText("MODIFIED", R"({"metadata":{"name":"n1","resourceVersion":"13"},"status":[]})"));
  f.api.Data(kTooOld);
  f.executor.Advance(absl::Seconds(2));
  f.api.Serve(200, List("20", {R"({"metadata":{"name":"n1","resourceVersion":"13"},"status":[]})", Node("n3", "7")}));
  CHECK(f.Told() == "~n3-n4|");
  CHECK(f.informer->Find({}, "n1")->meta.resource_version == "5");
  // A deletion needs only the name.
  f.api.Head(200);
  f.api.Data(EventText("DELETED", R"({"metadata":{"name":"n1","resourceVersion":"21"},"status":[]})"));
  CHECK(f.Told() == "-n1|");
}

TEST_CASE("nonsense in a watch ends it, and it is watched again") {
  InformerFixture f;
  f.Begin();
  f.api.Data(EventText("ADDED", Node("n3", "18")) + "Internal Server Error");
  CHECK(f.Told() == "+n3|");
  CHECK_THAT(f.api.target(), Catch::StartsWith("/api/v1/nodes?resourceVersion=18&"));
}

TEST_CASE("bookmarks move the version and tell nobody") {
  InformerFixture f;
  f.Begin();
  f.api.Data(EventText("BOOKMARK", R"({"metadata":{"resourceVersion":"90"}})"));
  CHECK(f.Told() == "");
  CHECK(f.informer->stats().undecodable == 0);
  f.api.End();
  CHECK_THAT(f.api.target(), Catch::StartsWith("/api/v1/nodes?resourceVersion=90&"));
}

TEST_CASE("a group the server does not have is changed for the next, and back") {
  InformerFixture f(ResourceOf<api::ReplicaSet>(testing::k1_10));
  CHECK(f.api.target() == "/apis/extensions/v1beta1/replicasets?limit=500&resourceVersion=0");
  f.api.Serve(404, "404 page not found\n");
  f.executor.Run();
  CHECK(f.api.target() == "/apis/apps/v1/replicasets?limit=500&resourceVersion=0");
  SECTION("the next one is there") {
    f.api.Serve(200, List("10", {}));
    CHECK_THAT(f.api.target(), Catch::StartsWith("/apis/apps/v1/replicasets?resourceVersion=10&"));
  }
  SECTION("none is there") {
    f.api.Serve(404, "404 page not found\n");
    f.executor.Run();
    CHECK(f.api.calls.size() == 2);
    f.executor.Advance(absl::Seconds(2));
    CHECK(f.api.target() == "/apis/extensions/v1beta1/replicasets?limit=500&resourceVersion=0");
  }
}

TEST_CASE(
    "an optional resource that is not served, or may not be listed, is empty and is asked for every five minutes") {
  InformerFixture f(ResourceOf<api::ReplicaSet>(testing::k1_10), false, /*optional=*/true);
  const bool forbidden = GENERATE(false, true);
  const auto refuse = [&] {
    if (forbidden) return f.api.Serve(403, "{}");
    f.api.Serve(404, "404 page not found\n");
    f.executor.Run();
    f.api.Serve(404, "404 page not found\n");
  };
  refuse();
  CHECK(f.Told() == "!");
  CHECK(f.informer->HasSynced());
  const size_t asked = f.api.calls.size();
  f.executor.Advance(absl::Minutes(5) - absl::Seconds(1));
  CHECK(f.api.calls.size() == asked);
  f.executor.Advance(absl::Seconds(1));
  CHECK(f.api.calls.size() == asked + 1);
  SECTION("it comes") {
    f.api.Serve(200, List("10", {Node("n1", "5")}));
    CHECK(f.Told() == "+n1|");
    SECTION("and goes again") {
      f.api.Head(404, "{}");
      f.api.End();
      f.executor.Advance(absl::Seconds(2));
      refuse();
      CHECK(f.Told() == "-n1|");
    }
  }
  SECTION("it is still not there") {
    refuse();
    CHECK(f.Told() == "");
  }
  SECTION("other failures are tried again soon") {
    f.api.Serve(500, "{}");
    f.executor.Advance(absl::Seconds(2));
    CHECK(f.api.calls.size() == asked + 2);
  }
}

TEST_CASE("heartbeats are stored and tell nobody") {
  InformerFixture f(ResourceOf<api::Node>(testing::k1_10), true);
  f.Begin();
  f.api.Data(EventText("MODIFIED", Node("n1", "17")));
  CHECK(f.Told() == "");
  CHECK(f.informer->dropped_updates() == 1);
  CHECK(f.informer->Find({}, "n1")->meta.resource_version == "17");
  f.api.Data(EventText("MODIFIED", Node("n1", "18", "u", "2")));
  CHECK(f.Told() == "~n1|");
  f.api.Data(EventText("MODIFIED", Node("n1", "19", "other", "2")));
  CHECK(f.Told() == "~n1(other uid)|");
}

TEST_CASE("a deletion carries what was known and what the server last showed") {
  InformerFixture f;
  f.Begin();
  f.api.Data(EventText("DELETED", Node("n1", "30", "u", "4")));
  CHECK(f.Told() == "-n1|");
  CHECK(f.last.old_object->meta.resource_version == "5");
  CHECK(f.last.object->meta.resource_version == "30");
  f.api.Data(EventText("DELETED", Node("n1", "31")));
  CHECK(f.Told() == "");
}

TEST_CASE("a long list comes in batches, a destroyed informer is silent") {
  ManualExecutor executor;
  FakeApi api;
  int batches = 0;
  size_t events = 0;
  InformerOptions<api::Node> o;
  o.decode = [](api::Json j) { return api::DecodeNode(j); };
  o.batch_size = 10;
  o.on_batch = [&](InformerBatch<api::Node> b) {
    ++batches;
    events += b.events.size();
  };
  auto informer = std::make_unique<Informer<api::Node>>(&executor, &api, ResourceOf<api::Node>(testing::k1_10), o);
  informer->Start();
  std::vector<std::string> items;
  for (int i = 0; i < 35; ++i) items.push_back(Node(absl::StrCat("n", i), "5"));
  api.Serve(200, List("10", items));
  CHECK(batches == 4);
  CHECK(events == 35);
  api.Head(200);
  informer.reset();
  CHECK(api.last().cancelled);
  CHECK(executor.timers() == 0);
}

}  // namespace berth::client
