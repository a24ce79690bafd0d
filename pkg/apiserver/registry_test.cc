#include "pkg/store/registry.h"

#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>

#include "pkg/apiserver/event_expiry.h"
#include "pkg/apiserver/watch.h"

namespace berth::apiserver {
namespace {

// Collects the events of a watch, as "ADDED name rv".
struct Sink : WatchSink {
  std::vector<std::string> lines;
  bool finished = false;
  void Send(const Frame& f) override {
    auto v = ParseJson(FramePayload(*f));
    REQUIRE(v.ok());
    const Value* object = v->Find("object");
    const Value* meta = object->Find("metadata");
    std::string node =
        object->At({"spec", "nodeName"}) == nullptr ? "" : " on " + object->At({"spec", "nodeName"})->text();
    lines.push_back(std::string(v->Str("type")) + " " + std::string(meta->Str("name")) + " " +
                    std::string(meta->Str("resourceVersion")) + node);
    if (v->Str("type") == "ERROR") lines.back() = "ERROR " + std::string(object->Str("reason"));
  }
  void Finish() override { finished = true; }
};

struct World {
  util::ManualClock clock;
  Store store{Version{10}};
  Registry registry{&store, &clock};
  const ResourceInfo& pods = *Catalog::Of(Version{10}).Find("", "v1", "pods");
  const ResourceInfo& nodes = *Catalog::Of(Version{10}).Find("", "v1", "nodes");

  Value Parse(std::string_view json, const ResourceInfo& r) {
    auto v = ParseJson(json);
    REQUIRE(v.ok());
    auto d = Decode(*v, *r.type, "v1", json);
    REQUIRE(d.ok());
    return *d;
  }
  ObjectPtr Pod(const std::string& name, const std::string& spec = "") {
    std::string json =
        R"({"metadata":{"name":")" + name + R"("},"spec":{"containers":[{"name":"c","image":"i"}])" + spec + "}}";
    auto made = registry.Create(pods, 0, "ns", Parse(json, pods));
    if (auto* e = std::get_if<ApiError>(&made)) FAIL(e->message);
    return std::get<ObjectPtr>(made);
  }
  Value Now(const std::string& name) { return ToValue(pods, 0, *store.Get(pods, "ns", name)); }
  std::optional<ApiError> Bind(const std::string& name, const std::string& node) {
    return registry.Bind("ns", name, node, nullptr);
  }
  Deleted Delete(const std::string& name, std::optional<int64_t> grace = std::nullopt) {
    DeleteRequest how;
    how.grace_seconds = grace;
    auto gone = registry.Delete(pods, 0, "ns", name, how);
    if (auto* e = std::get_if<ApiError>(&gone)) FAIL(e->message);
    return std::get<Deleted>(gone);
  }
  std::unique_ptr<Watch> Watching(Sink* sink, Watch::From from, std::string_view fields = "") {
    auto s = ObjectSelector::Parse(pods, "ns", fields, "");
    auto w = std::make_unique<Watch>(&store, &pods, 0, std::get<ObjectSelector>(s), sink);
    w->Start(from);
    return w;
  }
};

// In simulated time texts are made when somebody asks for them.
TEST_CASE("a store that holds all values has the same objects") {
  for (const uint8_t release : {8, 10, 19, 36}) {
    INFO("1." << int{release});
    const Catalog& catalog = Catalog::Of(Version{release});
    Store plain{Version{release}}, holding{Version{release}};
    holding.HoldAllValues();
    util::ManualClock clock;
    Registry of_plain(&plain, &clock), of_holding(&holding, &clock);
    of_plain.Seed(1);
    of_holding.Seed(1);
    of_plain.CreateInitialObjects(0);
    of_holding.CreateInitialObjects(0);
    const ResourceInfo& pods = catalog.Core("pods");
    const auto do_it = [&](Registry* registry, Store* store) {
      const auto create = [&](const ResourceInfo& r, std::string_view json) {
        Value v = *ParseJson(json);
        auto made = registry->Create(r, StableVersionOf(r), "default", *Decode(v, *r.type, "v1", json));
        if (auto* e = std::get_if<ApiError>(&made)) FAIL(e->message);
      };
      create(pods, R"({"metadata":{"name":"a","labels":{"z":"1","a":"2"},"finalizers":["x"]},
                       "spec":{"containers":[{"name":"c","image":"i"}]}})");
      CHECK_FALSE(registry->Bind("default", "a", "n", nullptr));
      Value v = *store->Read(pods, StableVersionOf(pods), *store->Get(pods, "default", "a"));
      v.Child("status").Set("message", Value::String("m"));
      CHECK_FALSE(registry->Replace(pods, v));
      CHECK(registry->Replace(pods, v)->code == 409);
      const uint64_t rv = store->rv();
      v = *store->Read(pods, StableVersionOf(pods), *store->Get(pods, "default", "a"));
      v.Child("status").Set("message", Value::String("m"));
      CHECK_FALSE(registry->Replace(pods, std::move(v)));
      CHECK(store->rv() == rv);
      registry->Delete(pods, 0, "default", "a", {});
      if (const ResourceInfo* sets = catalog.Find("apps", release < 9 ? "v1beta1" : "v1", "statefulsets")) {
        create(*sets, R"({"metadata":{"name":"s"},"spec":{"serviceName":"s","replicas":1,"selector":{"matchLabels":
          {"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
      }
    };
    do_it(&of_plain, &plain);
    do_it(&of_holding, &holding);
    CHECK(plain.rv() == holding.rv());
    for (const ResourceInfo& r : catalog.resources()) {
      plain.Scan(r, "", "", [&](const ObjectPtr& o) {
        const ObjectPtr other = holding.Get(r, o->ns, o->name);
        REQUIRE(other != nullptr);
        CHECK(other->rv == o->rv);
        CHECK(other->uid == o->uid);
        CHECK(other->fields == o->fields);
        for (size_t version = 0; version < r.versions.size(); ++version) {
          std::string want, got;
          AppendObject(r, version, *o, "", &want);
          AppendObject(r, version, *other, "", &got);
          CHECK(got == want);
          CHECK(ToJson(*holding.Read(r, version, *other)) == ToJson(ToValue(r, version, *o)));
        }
        CHECK(other->body() == o->body());
        CHECK(WithResourceVersion(*other, 1234567)->body() == WithResourceVersion(*o, 1234567)->body());
        return true;
      });
    }
  }
}

TEST_CASE("binding: node, condition, one event; twice or deleting is a conflict") {
  World w;
  w.Pod("a");
  CHECK_FALSE(w.Bind("a", "n1").has_value());
  Value bound = w.Now("a");
  CHECK(bound.At({"spec", "nodeName"})->text() == "n1");
  CHECK(
      ToJson(*bound.At({"status", "conditions"})) ==
      R"([{"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":"2017-07-14T02:40:00Z"}])");
  CHECK(w.Bind("a", "n1")->message ==
        "Operation cannot be fulfilled on pods/binding \"a\": pod a is already assigned to node \"n1\"");
  CHECK(w.Bind("b", "n1")->code == 404);
}

TEST_CASE("graceful deletion: bound pods wait, unbound go at once, a shorter grace shortens") {
  World w;
  w.Pod("bound", R"(,"nodeName":"n")");
  Deleted d = w.Delete("bound");
  CHECK_FALSE(d.as_status);
  CHECK(w.Now("bound").At({"metadata", "deletionTimestamp"})->text() == "2017-07-14T02:40:30Z");
  uint64_t rv = w.store.rv();
  w.Delete("bound");
  w.Delete("bound", 60);
  CHECK(w.store.rv() == rv);
  w.Delete("bound", 5);
  CHECK(w.Now("bound").At({"metadata", "deletionTimestamp"})->text() == "2017-07-14T02:40:05Z");
  w.Delete("bound", 0);
  CHECK(w.store.Get(w.pods, "ns", "bound") == nullptr);

  Sink sink;
  auto watch = w.Watching(&sink, {false, w.store.rv()});
  w.Pod("unbound");
  w.Delete("unbound");
  CHECK(sink.lines.size() == 3);  // added, modified with a deletion time, deleted
  CHECK(sink.lines[1].starts_with("MODIFIED unbound"));
  CHECK(sink.lines[2] == absl::StrCat("DELETED unbound ", w.store.rv()));
}

TEST_CASE("selectors: entering is ADDED, leaving is DELETED with the old state and the new version") {
  World w;
  w.Pod("a");
  Sink unassigned, assigned;
  auto u = w.Watching(&unassigned, {true, 0}, "spec.nodeName=");
  auto a = w.Watching(&assigned, {false, w.store.rv()}, "spec.nodeName!=");
  w.Bind("a", "n1");
  std::string rv = std::to_string(w.store.rv());
  CHECK(unassigned.lines == std::vector<std::string>{"ADDED a 1", absl::StrCat("DELETED a ", rv)});
  CHECK(assigned.lines == std::vector<std::string>{absl::StrCat("ADDED a ", rv, " on n1")});
}

TEST_CASE("a watch begins in the window, and not before it") {
  World w;
  w.store.SetWindow("pods", 3);
  for (int i = 0; i < 5; ++i) w.Pod(absl::StrCat("p", i));
  Sink inside, outside;
  w.Watching(&inside, {false, 2});
  CHECK(inside.lines == std::vector<std::string>{"ADDED p2 3", "ADDED p3 4", "ADDED p4 5"});
  w.Watching(&outside, {false, 1});
  CHECK(outside.lines == std::vector<std::string>{"ERROR Gone"});
  CHECK(outside.finished);
}

TEST_CASE("a list as of an earlier version") {
  World w;
  w.Pod("a");
  w.Pod("b");
  uint64_t then = w.store.rv();
  w.Pod("aa");
  w.Delete("b");
  w.Bind("a", "n");
  std::string seen;
  REQUIRE(w.store.ScanAt(w.pods, "ns", "", then, [&](const ObjectPtr& o) {
    seen += o->name + std::to_string(o->rv) + " ";
    return true;
  }));
  CHECK(seen == "a1 b2 ");
  w.store.ForgetHistory();
  CHECK_FALSE(w.store.ScanAt(w.pods, "ns", "", then, [](const ObjectPtr&) { return true; }));
}

TEST_CASE("updates: conflicts, no change no version, status apart from spec") {
  World w;
  w.Pod("a");
  Value v = w.Now("a");
  v.Child("metadata").Child("labels").Set("x", Value::String("1"));
  v.Child("status").Set("phase", Value::String("Failed"));
  auto made = w.registry.Update(w.pods, 0, "ns", "a", v, {});
  REQUIRE(std::holds_alternative<ObjectPtr>(made));
  CHECK(w.Now("a").At({"status", "phase"})->text() == "Pending");
  CHECK(w.store.rv() == 2);
  w.registry.Update(w.pods, 0, "ns", "a", w.Now("a"), {});
  CHECK(w.store.rv() == 2);  // nothing changed
  auto stale = w.registry.Update(w.pods, 0, "ns", "a", v, {});
  CHECK(std::get<ApiError>(stale).code == 409);
  Value status = w.Now("a");
  status.Child("status").Set("phase", Value::String("Running"));
  status.Child("spec").Set("schedulerName", Value::String("other"));
  w.registry.Update(w.pods, 0, "ns", "a", status, {"status", false});
  CHECK(w.Now("a").At({"status", "phase"})->text() == "Running");
  CHECK(w.Now("a").At({"spec", "schedulerName"})->text() == "default-scheduler");
}

TEST_CASE("priority classes give pods their priority") {
  World w;
  const ResourceInfo& classes = *Catalog::Of(Version{10}).Find("scheduling.k8s.io", "v1", "priorityclasses");
  w.registry.Create(classes, 0, "", w.Parse(R"({"metadata":{"name":"high"},"value":1000})", classes));
  CHECK(w.Pod("plain")->body().find("\"priority\":0") != std::string::npos);
  CHECK(w.Pod("high", R"(,"priorityClassName":"high")")->body().find("\"priority\":1000") != std::string::npos);
  auto none = w.registry.Create(
      w.pods, 0, "ns",
      w.Parse(R"({"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],"priorityClassName":"no"}})",
              w.pods));
  CHECK(std::get<ApiError>(none).code == 403);
}

TEST_CASE("events expire, and are only so many") {
  World w;
  const ResourceInfo& events = *Catalog::Of(Version{10}).Find("", "v1", "events");
  EventExpiry expiry(&w.store, &w.clock, absl::Hours(1), 3);
  auto add = [&](const std::string& name) {
    auto made = w.registry.Create(
        events, 0, "ns",
        w.Parse(R"({"metadata":{"name":")" + name + R"("},"involvedObject":{"namespace":"ns"}})", events));
    REQUIRE(std::holds_alternative<ObjectPtr>(made));
  };
  add("a");
  add("renewed");
  w.clock.Advance(absl::Minutes(40));
  add("b");
  Value again = ToValue(events, 0, *w.store.Get(events, "ns", "renewed"));
  again.Set("count", Value::Int(2));
  w.registry.Update(events, 0, "ns", "renewed", again, {});
  w.clock.Advance(absl::Minutes(30));
  expiry.Sweep();
  CHECK(w.store.Get(events, "ns", "a") == nullptr);
  CHECK(w.store.Get(events, "ns", "b") != nullptr);
  CHECK(w.store.Get(events, "ns", "renewed") != nullptr);  // an hour since its last change
  for (std::string name : {"c", "d", "e"}) add(name);
  expiry.Sweep();
  CHECK(w.store.size(events) == 3);
  CHECK(w.store.Get(events, "ns", "b") == nullptr);
}

TEST_CASE("finalizers hold an object until the last one goes") {
  World w;
  auto made = w.registry.Create(
      w.pods, 0, "ns",
      w.Parse(R"({"metadata":{"name":"f","finalizers":["x/y"]},"spec":{"containers":[{"name":"c","image":"i"}]}})",
              w.pods));
  REQUIRE(std::holds_alternative<ObjectPtr>(made));
  w.Delete("f");
  REQUIRE(w.store.Get(w.pods, "ns", "f") != nullptr);
  CHECK(w.Bind("f", "n")->message.find("is being deleted") != std::string::npos);
  Value v = w.Now("f");
  v.Child("metadata").Erase("finalizers");
  w.registry.Update(w.pods, 0, "ns", "f", v, {});
  CHECK(w.store.Get(w.pods, "ns", "f") == nullptr);
}

TEST_CASE("objects without spec or with their members in another order are completed") {
  World w;
  auto node = w.registry.Create(w.nodes, 0, "",
                                w.Parse(R"({"metadata":{"name":"a-name-that-is-long-enough-for-the-heap"}})", w.nodes));
  Value made = ToValue(w.nodes, 0, *std::get<ObjectPtr>(node));
  CHECK(made.At({"spec", "externalID"})->text() == "a-name-that-is-long-enough-for-the-heap");

  const ResourceInfo& sets = *Catalog::Of(Version{10}).Find("apps", "v1", "replicasets");
  auto set = w.registry.Create(
      sets, 1, "ns",
      w.Parse(R"({"status":{"replicas":7},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":
        {"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}},"metadata":{"name":"web"}})",
              sets));
  made = ToValue(sets, 1, *std::get<ObjectPtr>(set));
  CHECK(made.At({"metadata", "generation"})->AsInt() == 1);
  CHECK(made.At({"metadata", "name"})->text() == "web");
  CHECK(made.At({"status", "replicas"})->AsInt() == 0);

  // A write of the status keeps everything else, wherever it is in the object.
  w.Pod("p");
  Value pod = w.Now("p");
  Value turned = Value::Object();
  turned.Set("status", *pod.Find("status"));
  turned.Set("metadata", *pod.Find("metadata"));
  turned.Child("metadata").Set("ownerReferences", Value::Array()).Append(Value::Object());
  auto written = w.registry.Update(w.pods, 0, "ns", "p", std::move(turned), {"status", false});
  REQUIRE(std::holds_alternative<ObjectPtr>(written));
  CHECK(w.Now("p").At({"metadata", "ownerReferences"}) == nullptr);
  CHECK(w.Now("p").At({"spec", "containers"}) != nullptr);
}

TEST_CASE("watchers that start at the beginning share the texts they are sent") {
  struct Keeper : WatchSink {
    std::vector<Frame> frames;
    void Send(const Frame& f) override { frames.push_back(f); }
    void Finish() override {}
  };
  World w;
  const ResourceInfo& budgets = *Catalog::Of(Version{10}).Find("policy", "v1", "poddisruptionbudgets");
  w.Pod("a");
  REQUIRE(std::holds_alternative<ObjectPtr>(
      w.registry.Create(budgets, 1, "ns", w.Parse(R"({"metadata":{"name":"b"}})", budgets))));
  for (const auto& [r, version] : {std::pair(&w.pods, size_t{0}), std::pair(&budgets, size_t{1})}) {
    Keeper one, two;
    Watch first(&w.store, r, version, ObjectSelector(), &one), second(&w.store, r, version, ObjectSelector(), &two);
    REQUIRE((first.Start({true, 0}) && second.Start({true, 0})));
    REQUIRE((one.frames.size() == 1 && two.frames.size() == 1));
    CHECK(one.frames[0] == two.frames[0]);
    // The frames of changes are also shared, in each API version.
    REQUIRE(std::holds_alternative<ObjectPtr>(w.registry.Create(
        *r, version, "ns",
        w.Parse(R"({"metadata":{"name":"later"},"spec":{"containers":[{"name":"c","image":"i"}]}})", *r))));
    REQUIRE((one.frames.size() == 2 && two.frames.size() == 2));
    CHECK(one.frames[1] == two.frames[1]);
    // A frame is deleted when all watchers have read it.
    std::weak_ptr<const std::string> first_frame = one.frames[0];
    one.frames.clear();
    two.frames.clear();
    CHECK(first_frame.expired());
  }
}

TEST_CASE("a bookmark tells the version that was reached, once a minute and only when there is news") {
  World w;
  Sink plain, marked;
  ObjectSelector others;
  others.RequireName("another");
  Watch without(&w.store, &w.pods, 0, others, &plain), with(&w.store, &w.pods, 0, others, &marked);
  REQUIRE((without.Start({true, 0, false}) && with.Start({true, 0, true})));
  w.store.Tick(absl::Seconds(100));
  w.Pod("a");  // no event for these watchers
  w.store.Tick(absl::Seconds(159));
  CHECK(marked.lines.empty());
  w.store.Tick(absl::Seconds(160));
  REQUIRE(marked.lines.size() == 1);
  CHECK(marked.lines[0] == absl::StrCat("BOOKMARK  ", w.store.rv()));
  w.store.Tick(absl::Seconds(300));
  CHECK(marked.lines.size() == 1);  // nothing has happened since then
  w.Pod("b");
  w.store.Tick(absl::Seconds(361));
  CHECK(marked.lines.size() == 2);
  CHECK(plain.lines.empty());
}

TEST_CASE("an object with very many mistakes: each is a cause, and equal texts are said once") {
  constexpr int kMistakes = 60'000;
  FieldErrors errors;
  for (int i = 0; i < kMistakes; ++i) {
    errors.push_back(Required(absl::StrCat("spec.containers[", i, "].name")));
    errors.push_back(Required("spec.image"));
  }
  ApiError e = InvalidObject("", "Pod", "p", errors);
  CHECK(e.causes.size() == 2 * kMistakes);
  CHECK(e.message.starts_with(
      "Pod \"p\" is invalid: [spec.containers[0].name: Required value, spec.image: Required value, "
      "spec.containers[1].name: Required value, spec.containers[2].name"));
}

}  // namespace
}  // namespace berth::apiserver
