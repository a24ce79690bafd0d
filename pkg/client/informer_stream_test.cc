// Lists that are beginnings of watches (WatchList), and what is done where a server does not know them.
#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>

#include "pkg/client/fake_api.h"
#include "pkg/client/informer.h"
#include "pkg/client/manual_executor.h"
#include "pkg/client/testing/dialects.h"

namespace berth::client {
namespace {

std::string StreamedNode(const std::string& type, const std::string& name, const std::string& version) {
  return absl::StrCat(R"({"type":")", type, R"(","object":{"metadata":{"name":")", name, R"(","uid":"u-)", name,
                      R"(","resourceVersion":")", version, R"("}}})", "\n");
}

std::string EndOfStreamedList(const std::string& version) {
  return absl::StrCat(R"({"type":"BOOKMARK","object":{"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":")",
                      version, R"(","annotations":{"k8s.io/initial-events-end":"true"}}}})", "\n");
}

// An informer of nodes as release 1.36 has it. Told() returns what its consumer was told: "+n1" added, "~n1" updated,
// "-n1" deleted, "!" the initial list is complete, "|" the end of a batch.
struct StreamFixture {
  StreamFixture() {
    InformerOptions<api::Node> o;
    o.decode = [](api::Json j) { return api::DecodeNode(j); };
    o.on_batch = [this](InformerBatch<api::Node> b) {
      using Kind = InformerEvent<api::Node>::Kind;
      for (auto& e : b.events) {
        told += (e.kind == Kind::kAdded ? "+" : e.kind == Kind::kUpdated ? "~" : "-") + e.object->meta.name;
      }
      told += b.initial_list_done ? "!" : "|";
    };
    o.reflector.random = [] { return 0.5; };
    Resource resource = ResourceOf<api::Node>(testing::kCurrent);
    resource.streams_lists = true;
    informer = std::make_unique<Informer<api::Node>>(&executor, &api, std::move(resource), std::move(o));
    informer->Start();
  }
  std::string Told() { return std::exchange(told, {}); }
  void Begin() {
    api.Head(200);
    api.Data(StreamedNode("ADDED", "n1", "5") + StreamedNode("ADDED", "n2", "6") + EndOfStreamedList("10"));
    REQUIRE(Told() == "+n1+n2!");
    executor.Advance(absl::Seconds(2));
  }

  ManualExecutor executor;
  FakeApi api;
  std::string told;
  std::unique_ptr<Informer<api::Node>> informer;
};

constexpr char kTooOldForStream[] =
    R"x({"kind":"Status","reason":"Expired","message":"too old resource version: 10 (20)","code":410})x";
constexpr char kFromNothing[] =
    "/api/v1/nodes?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeout=7m30s"
    "&timeoutSeconds=450&watch=true";
constexpr char kFromTen[] =
    "/api/v1/nodes?allowWatchBookmarks=true&resourceVersion=10&resourceVersionMatch=NotOlderThan"
    "&sendInitialEvents=true&timeout=7m30s&timeoutSeconds=450&watch=true";
constexpr char kWatchFromTen[] =
    "/api/v1/nodes?allowWatchBookmarks=true&resourceVersion=10&timeout=7m30s&timeoutSeconds=450&watch=true";

}  // namespace

TEST_CASE("a list is the beginning of a watch, and ends with its bookmark") {
  StreamFixture f;
  CHECK(f.api.target() == kFromNothing);
  f.api.Head(200);
  f.api.Data(StreamedNode("ADDED", "n1", "5") + StreamedNode("ADDED", "n2", "6"));
  CHECK_FALSE(f.informer->HasSynced());
  f.api.Data(EndOfStreamedList("10") + StreamedNode("MODIFIED", "n1", "11"));
  CHECK(f.Told() == "+n1+n2!~n1|");
  CHECK(f.informer->HasSynced());
  CHECK(f.informer->stats().streamed_lists == 1);
  f.api.Data(StreamedNode("DELETED", "n2", "12"));
  CHECK(f.Told() == "-n2|");
  CHECK(f.api.calls.size() == 1);
}

TEST_CASE("a watch goes on from its version, and a list that is streamed again tells the difference") {
  StreamFixture f;
  f.Begin();
  f.api.End();
  CHECK(f.api.target() == kWatchFromTen);
  f.api.Head(410, kTooOldForStream);
  f.api.End();
  f.executor.Advance(absl::Seconds(2));
  CHECK(f.api.target() == kFromTen);
  f.api.Head(200);
  f.api.Data(StreamedNode("ADDED", "n2", "19") + EndOfStreamedList("20"));
  CHECK(f.Told() == "~n2-n1|");
  CHECK(f.informer->size() == 1);
}

TEST_CASE("a version that the server has not is left out") {
  StreamFixture f;
  f.Begin();
  f.api.End();
  f.api.Head(410, kTooOldForStream);
  f.api.End();
  f.executor.Advance(absl::Seconds(2));
  REQUIRE(f.api.target() == kFromTen);
  f.api.Head(504, R"({"kind":"Status","message":"Timeout: Too large resource version: 10, current: 3","code":504})");
  f.api.End();
  CHECK(f.api.target() == kFromNothing);
  f.api.Head(200);
  f.api.Data(StreamedNode("ADDED", "n1", "2") + EndOfStreamedList("3"));
  CHECK(f.Told() == "~n1-n2|");
}

TEST_CASE("a server that refuses to stream lists is asked for one") {
  StreamFixture f;
  f.api.Head(422, R"({"kind":"Status","reason":"Invalid","message":"sendInitialEvents is forbidden","code":422})");
  f.api.End();
  CHECK(f.api.target() == "/api/v1/nodes?limit=500&resourceVersion=0");
  f.api.Serve(200,
              R"({"metadata":{"resourceVersion":"10"},"items":[{"metadata":{"name":"n1","resourceVersion":"5"}}]})");
  CHECK(f.Told() == "+n1!");
  CHECK(f.api.target() == kWatchFromTen);
}

TEST_CASE("a server that never ends the list is asked for one") {
  StreamFixture f;
  f.api.Head(200);
  f.api.Data(StreamedNode("ADDED", "n1", "5"));
  f.executor.Advance(absl::Seconds(29));
  CHECK(f.api.calls.size() == 1);
  f.api.Data(StreamedNode("ADDED", "n2", "6"));  // a long list
  f.executor.Advance(absl::Seconds(31));
  f.executor.Advance(absl::Seconds(31));
  CHECK(f.api.target() == "/api/v1/nodes?limit=500&resourceVersion=0");
}

TEST_CASE("an overloaded server is asked again when it says, and a list that breaks off is begun again") {
  StreamFixture f;
  f.api.Head(429, R"({"kind":"Status","message":"too many","code":429})", nullptr, 5);
  f.api.End();
  f.executor.Advance(absl::Milliseconds(4900));
  CHECK(f.api.calls.size() == 1);
  f.executor.Advance(absl::Milliseconds(200));
  CHECK(f.api.target() == kFromNothing);
  f.api.Head(200);
  f.api.Data(StreamedNode("ADDED", "n1", "5"));
  f.api.End("connection reset");
  CHECK(f.Told().empty());
  f.executor.Advance(absl::Seconds(3));
  CHECK(f.api.calls.size() == 3);
  CHECK(f.api.target() == kFromNothing);
  f.api.Head(200);
  f.api.Data(StreamedNode("ADDED", "n2", "6") + EndOfStreamedList("10"));
  CHECK(f.Told() == "+n1+n2-n1!");
}

TEST_CASE("a list that follows one that broke off is not older than what that one had") {
  StreamFixture f;
  f.Begin();
  f.api.End("connection reset");
  REQUIRE(f.api.target() == kWatchFromTen);
  f.api.Head(410, kTooOldForStream);
  f.api.End();
  f.executor.Advance(absl::Seconds(2));
  REQUIRE(f.api.target() == kFromTen);
  f.api.Head(200);
  f.api.Data(StreamedNode("ADDED", "n1", "19"));
  f.api.End("connection reset");
  f.executor.Advance(absl::Seconds(3));
  // The next server may lag behind the one that was asked before.
  CHECK(f.api.target() ==
        "/api/v1/nodes?allowWatchBookmarks=true&resourceVersion=19&resourceVersionMatch=NotOlderThan"
        "&sendInitialEvents=true&timeout=7m30s&timeoutSeconds=450&watch=true");
}

}  // namespace berth::client
