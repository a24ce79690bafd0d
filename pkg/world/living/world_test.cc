#include "pkg/world/living/world.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace berth::world::living {
namespace {

// A cluster to which nobody writes.
class NoCluster final : public Cluster {
 public:
  ValuePtr Get(std::string_view, std::string_view, std::string_view) const override { return nullptr; }
  void Each(std::string_view, std::string_view, const std::function<void(const Value&)>&) const override {}
  void EachOf(std::string_view, const std::function<void(const Value&)>&) const override {}
  bool Serves(std::string_view) const override { return true; }
  Written Create(std::string_view, Value, Value*) override {
    ++events;
    return std::nullopt;
  }
  Written Update(std::string_view, Value) override { return refuses; }
  Written UpdateStatus(std::string_view, Value) override { return refuses; }
  Written Delete(std::string_view, std::string_view, std::string_view, const DeleteHow&) override {
    return std::nullopt;
  }
  Written Bind(std::string_view, std::string_view, std::string_view) override { return std::nullopt; }
  void RenewLease(std::string_view) override {}
  int events = 0;
  Written refuses;
};

class Notes final : public Actor {
 public:
  void OnChange(const Change& c) override {
    changes.push_back(std::string(c.kind) + (c.gone ? " gone" : c.is_new ? " new" : " changed"));
  }
  void Sync(const ObjectName& what) override {
    synced.push_back(what.name);
    if (writes_to != nullptr) writes_to->cluster().UpdateStatus("Pod", Value::Object());
  }
  std::vector<std::string> changes, synced;
  World* writes_to = nullptr;
};

struct Around {
  NoCluster cluster;
  util::ManualClock clock;
  World world{&cluster, &clock, {}};
  Notes* notes = nullptr;
  Around() {
    auto actor = std::make_unique<Notes>();
    notes = actor.get();
    world.Add(std::move(actor));
  }
  void Enqueue(const char* name, absl::Duration delay) { world.Enqueue(notes, {"Pod", "ns", name}, delay); }
};

ValuePtr PodLike(const char* uid, const char* node, const char* owner) {
  return std::make_shared<const Value>(
      *validation::ParseJson(std::string(R"({"metadata":{"namespace":"ns","name":"p","uid":")") + uid +
                             R"(","ownerReferences":[{"kind":"ReplicaSet","name":"web","controller":true,"uid":")" +
                             owner + R"("}]},"spec":{"nodeName":")" + node + R"("}})"));
}

TEST_CASE("work is done in the order of its time, then of its becoming due") {
  Around a;
  a.Enqueue("late", absl::Seconds(2));
  a.Enqueue("first", absl::Seconds(1));
  a.Enqueue("second", absl::Seconds(1));
  CHECK(a.world.RunDue(10) == 0);
  CHECK(a.world.NextDue() == a.clock.Steady() + absl::Seconds(1));
  a.clock.Advance(absl::Seconds(1));
  CHECK(a.world.RunDue(10) == 2);
  a.clock.Advance(absl::Seconds(1));
  CHECK(a.world.RunDue(10) == 1);
  CHECK(a.notes->synced == std::vector<std::string>{"first", "second", "late"});
  CHECK(!a.world.NextDue());
}

TEST_CASE("what is due twice is done once, at the earlier time") {
  Around a;
  a.Enqueue("x", absl::Seconds(5));
  a.Enqueue("x", absl::Seconds(1));
  a.Enqueue("x", absl::Seconds(3));
  a.clock.Advance(absl::Seconds(10));
  CHECK(a.world.RunDue(10) == 1);
}

TEST_CASE("work whose writes are refused for a reason that passes is done again, later each time") {
  Around a;
  a.notes->writes_to = &a.world;
  a.Enqueue("x", absl::ZeroDuration());
  a.cluster.refuses = Refused{409, "the object has been modified"};
  for (int64_t ms : {100, 200, 400}) {
    CHECK(a.world.RunDue(10) == 1);
    CHECK(a.world.NextDue() == a.clock.Steady() + absl::Milliseconds(ms));
    a.clock.Advance(absl::Milliseconds(ms));
  }
  a.cluster.refuses = Refused{503, "not now"};
  for (int i = 0; i < 20; ++i) {
    CHECK(a.world.RunDue(10) == 1);
    a.clock.Advance(absl::Seconds(30));
  }
  a.cluster.refuses.reset();
  CHECK(a.world.RunDue(10) == 1);
  CHECK(!a.world.NextDue());
  // After it went well the first time is short again; what is forbidden is not tried again.
  a.Enqueue("x", absl::ZeroDuration());
  a.cluster.refuses = Refused{429, "too many requests"};
  CHECK(a.world.RunDue(10) == 1);
  CHECK(a.world.NextDue() == a.clock.Steady() + absl::Milliseconds(100));
  a.clock.Advance(absl::Milliseconds(100));
  a.cluster.refuses = Refused{403, "exceeded quota"};
  CHECK(a.world.RunDue(10) == 1);
  CHECK(!a.world.NextDue());
}

TEST_CASE("a world is settled when all that is due was tried since the last change") {
  Around a;
  CHECK(a.world.IsSettled());
  a.Enqueue("x", absl::Seconds(1));
  CHECK_FALSE(a.world.IsSettled());
  a.clock.Advance(absl::Seconds(1));
  a.world.RunDue(10);
  CHECK(a.world.IsSettled());
  a.world.EnqueueTry(a.notes, {"Pod", "ns", "y"}, absl::Seconds(1));
  CHECK(a.world.IsSettled());
  a.world.Changed("Pod", PodLike("1", "", "set"), false);
  CHECK_FALSE(a.world.IsSettled());
  a.clock.Advance(absl::Seconds(1));
  a.world.RunDue(10);
  a.world.EnqueueTry(a.notes, {"Pod", "ns", "y"}, absl::Seconds(1));
  CHECK(a.world.IsSettled());
  // Work that is a try for one and not for another is no try.
  a.Enqueue("y", absl::Seconds(5));
  CHECK_FALSE(a.world.IsSettled());
  a.world.EnqueueTry(a.notes, {"Pod", "ns", "y"}, absl::ZeroDuration());
  CHECK_FALSE(a.world.IsSettled());
  a.world.RunDue(10);
  CHECK(a.world.IsSettled());
  // So is what was refused.
  a.notes->writes_to = &a.world;
  a.cluster.refuses = Refused{409, "the object has been modified"};
  a.Enqueue("z", absl::ZeroDuration());
  a.world.RunDue(10);
  CHECK(a.world.NextDue());
  CHECK(a.world.IsSettled());
}

TEST_CASE("a quiet world writes no events") {
  Around a;
  a.world.WriteNoEvents();
  a.world.Record(*PodLike("1", "n1", "set"), "kubelet", "n1", "Normal", "Started", "x");
  CHECK(a.cluster.events == 0);
}

TEST_CASE("pods are found by their controller and node") {
  Around a;
  a.world.Changed("Pod", PodLike("1", "", "set"), false);
  CHECK(a.world.PodsOfController("set").size() == 1);
  CHECK(a.world.PodsOfNode("n1").empty());
  a.world.Changed("Pod", PodLike("1", "n1", "set"), false);
  CHECK(a.world.PodsOfNode("n1").size() == 1);
  CHECK(a.world.Dependents("set").size() == 1);
  a.world.Changed("Pod", PodLike("1", "n1", "set"), true);
  CHECK(a.world.PodsOfController("set").empty());
  CHECK(a.world.PodsIn("ns").empty());
  CHECK(a.world.Dependents("set").empty());
  CHECK(a.notes->changes == std::vector<std::string>{"Pod new", "Pod changed", "Pod gone"});
}

TEST_CASE("one source writes 25 events about an object, and another every five minutes") {
  Around a;
  const ValuePtr pod = PodLike("1", "n1", "set");
  for (int i = 0; i < 100; ++i) a.world.Record(*pod, "kubelet", "n1", "Normal", "Started", "x");
  CHECK(a.cluster.events == 25);
  a.clock.Advance(absl::Minutes(5) + absl::Seconds(1));
  for (int i = 0; i < 100; ++i) a.world.Record(*pod, "kubelet", "n1", "Normal", "Started", "x");
  CHECK(a.cluster.events == 26);
}

}  // namespace
}  // namespace berth::world::living
