// The queue of release 1.29: the order of pods, their back-off, and which events wake which pods.
#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "pkg/releases/v1_29/decides.h"
#include "pkg/scheduler/queue/scheduling_queue.h"

namespace berth::scheduler {
namespace {

using util::Symbol;
using EventKind = ClusterEvent::Kind;

api::PodPtr QueuedPod(const std::string& name, int32_t priority = 0, const std::string& label = "") {
  api::PodTemplate t;
  t.ns = Symbol("default");
  t.priority = priority;
  if (!label.empty()) t.labels = api::Labels({{Symbol("app"), Symbol(label)}});
  auto p = std::make_shared<api::Pod>();
  p->meta.name = name;
  p->meta.ns = t.ns;
  p->meta.uid = "uid-" + name;
  p->tmpl = api::PodTemplate::Intern(std::move(t));
  return p;
}

EventQueueOptions WakesOf129() {
  EventQueueOptions o;
  o.wakes = releases::v1_29::RejectionWakes();
  return o;
}

struct Fixture {
  explicit Fixture(EventQueueOptions o = WakesOf129()) : q(NewEventQueue(o)) {}
  std::string Pop() {
    const api::PodPtr p = q->Pop();
    return p == nullptr ? "" : p->meta.name;
  }
  void Reject(const api::PodPtr& p, std::vector<Symbol> plugins) {
    q->AddRejected(p, Requeue::kUnschedulable, plugins, q->cycle(), now);
  }
  // Pops the pod, which must be the next one, and gives it back as rejected by these plugins.
  void Fail(const api::PodPtr& p, std::vector<Symbol> plugins) {
    REQUIRE(Pop() == p->meta.name);
    Reject(p, std::move(plugins));
  }
  void Pass(double seconds) {
    now += absl::Seconds(seconds);
    q->Flush(now);
  }
  void Happens(EventKind kind) { q->ClusterChanged({kind}, now); }
  absl::Duration now = absl::Seconds(1000);
  std::unique_ptr<SchedulingQueue> q;
};

const Symbol kFit("NodeResourcesFit");

}  // namespace

TEST_CASE("event queue: higher priority first, then who has waited longest since its last attempt") {
  Fixture f;
  auto a = QueuedPod("a"), b = QueuedPod("b"), high = QueuedPod("high", 10);
  f.q->Add(a);
  f.q->Add(b);
  f.q->Add(high);
  CHECK(f.Pop() == "high");
  f.Fail(a, {kFit});
  f.Pass(2);
  f.Happens(EventKind::kNodeAdd);  // a is active again, behind b
  CHECK(f.Pop() == "b");
  CHECK(f.Pop() == "a");
  CHECK(f.Pop() == "");
}

TEST_CASE("event queue: the back-off is 1, 2, 4, 8, 10, 10 s from the end of the attempt, looked at once a second") {
  Fixture f;
  auto p = QueuedPod("p");
  f.q->Add(p);
  f.q->Flush(f.now);
  for (const double wait : {1.0, 2.0, 4.0, 8.0, 10.0, 10.0}) {
    f.Fail(p, {});  // no plugin rejected the pod, so it only backs off
    CHECK(f.q->depth().backoff == 1);
    f.Pass(wait - 0.5);
    CHECK(f.Pop() == "");
    f.Pass(1);
    CHECK(f.q->depth().active == 1);
    f.now += absl::Milliseconds(500);  // back-offs are looked at again one second after the last time
  }
  CHECK(f.Pop() == "p");
  f.q->Done(*p);
  f.q->Add(p);
  f.Fail(p, {});  // after Done, attempts are counted from 1 again
  f.Pass(2);
  CHECK(f.Pop() == "p");
}

TEST_CASE("event queue: an event moves the pods that a plugin rejected which cares about it") {
  struct Case {
    const char* plugin;
    EventKind kind;
    bool moves;
  };
  const auto c = GENERATE(values<Case>({
      {"NodeResourcesFit", EventKind::kNodeAdd, true},
      {"NodeResourcesFit", EventKind::kAssignedPodDelete, true},
      {"NodeResourcesFit", EventKind::kNodeConditions, true},
      {"NodeResourcesFit", EventKind::kAssignedPodScaleDown, true},
      {"NodePorts", EventKind::kAssignedPodScaleDown, false},
      {"NodeResourcesFit", EventKind::kAssignedPodUpdate, false},
      {"NodeResourcesFit", EventKind::kPersistentVolumeAdd, false},
      {"NodeResourcesFit", EventKind::kNodeOther, false},
      {"NodeUnschedulable", EventKind::kNodeBecameSchedulable, true},
      {"NodeUnschedulable", EventKind::kNodeTaints, true},
      {"NodeUnschedulable", EventKind::kNodeAllocatable, false},
      {"TaintToleration", EventKind::kNodeAllocatable, true},
      {"VolumeBinding", EventKind::kPersistentVolumeClaimUpdate, true},
      {"VolumeBinding", EventKind::kCsiStorageCapacityUpdate, true},
      {"VolumeBinding", EventKind::kNodeLabels, true},
      {"VolumeBinding", EventKind::kNodeAllocatable, false},
      {"NodeVolumeLimits", EventKind::kCsiNodeAdd, true},
      {"NodeVolumeLimits", EventKind::kNodeAdd, false},
      {"PodTopologySpread", EventKind::kAssignedPodDelete, true},
      {"PodTopologySpread", EventKind::kNodeDelete, false},
      {"SchedulingGates", EventKind::kNodeAdd, false},
      {"SomebodysPlugin", EventKind::kCsiDriverAdd, true},
      {"SomebodysPlugin", EventKind::kServiceUpdate, false},
      {"SchedulingGates", EventKind::kUnschedulableTimeout, true},
  }));
  CAPTURE(c.plugin, static_cast<int>(c.kind));
  Fixture f;
  auto p = QueuedPod("p");
  f.q->Add(p);
  f.Fail(p, {Symbol(c.plugin)});
  CHECK(f.q->depth().unschedulable == 1);
  f.Pass(20);
  f.Happens(c.kind);
  CHECK((f.Pop() == "p") == c.moves);
}

TEST_CASE("event queue: without registrations every event moves every pod") {
  for (int kind = 0; kind <= static_cast<int>(EventKind::kUnschedulableTimeout); ++kind) {
    if (kind <= static_cast<int>(EventKind::kAssignedPodUpdate)) continue;  // these need a pod
    CAPTURE(kind);
    Fixture f{EventQueueOptions{}};
    auto p = QueuedPod("p");
    f.q->Add(p);
    f.Fail(p, {kFit});
    f.Pass(20);
    f.Happens(static_cast<EventKind>(kind));
    CHECK(f.Pop() == "p");
  }
}

TEST_CASE("event queue: a pod that is moved while it backs off waits for the rest") {
  Fixture f;
  auto p = QueuedPod("p");
  f.q->Add(p);
  f.Fail(p, {kFit});
  f.Happens(EventKind::kAssignedPodDelete);
  CHECK(f.q->depth().backoff == 1);
  f.Pass(0.9);
  CHECK(f.Pop() == "");
  f.Pass(1.1);
  CHECK(f.Pop() == "p");
}

TEST_CASE("event queue: an event during the attempt makes a pod back off only, even if it moved nobody") {
  Fixture f;
  auto p = QueuedPod("p");
  f.q->Add(p);
  REQUIRE(f.Pop() == "p");
  f.Happens(EventKind::kCsiNodeAdd);
  f.Reject(p, {kFit});
  CHECK(f.q->depth().backoff == 1);
  // An event that no plugin is registered for does not count.
  f.Pass(2);
  REQUIRE(f.Pop() == "p");
  f.Happens(EventKind::kServiceUpdate);
  f.Reject(p, {kFit});
  CHECK(f.q->depth().unschedulable == 1);
}

TEST_CASE("event queue: a node wakes only the pods that it could take") {
  EventQueueOptions o = WakesOf129();
  o.may_fit = [](const api::Pod& p, const api::Node& n) { return p.meta.name == n.meta.name; };
  Fixture f(o);
  for (const char* name : {"a", "b"}) {
    f.q->Add(QueuedPod(name));
    f.Fail(QueuedPod(name), {kFit});
  }
  f.Pass(20);
  api::Node n;
  n.meta.name.push_back('b');
  f.q->ClusterChanged({EventKind::kNodeAdd, EventObject<api::Node>{nullptr, std::make_shared<const api::Node>(n)}},
                      f.now);
  CHECK(f.Pop() == "b");
  CHECK(f.Pop() == "");
}

TEST_CASE("event queue: a pod that was placed wakes only those that want to be near it") {
  Fixture f;
  auto lonely = QueuedPod("lonely");
  api::PodTemplate t = *QueuedPod("near")->tmpl;
  api::PodAffinityTerm& term = t.affinity.pod.emplace().required.emplace_back();
  term.namespaces = {Symbol("default")};
  term.selector.selector = api::Selector::FromMapValidated(api::Labels({{Symbol("app"), Symbol("web")}}));
  auto near = std::make_shared<api::Pod>(*QueuedPod("near"));
  near->tmpl = api::PodTemplate::Intern(std::move(t));
  for (const api::PodPtr& p : {api::PodPtr(lonely), api::PodPtr(near)}) {
    f.q->Add(p);
    f.Fail(p, {Symbol("InterPodAffinity")});
  }
  f.Pass(20);
  f.q->AssignedPodAdded(*QueuedPod("db", 0, "db"), f.now);
  CHECK(f.Pop() == "");
  f.q->AssignedPodAdded(*QueuedPod("web", 0, "web"), f.now);
  CHECK(f.Pop() == "near");
  CHECK(f.Pop() == "");
}

TEST_CASE("event queue: a change of the pod itself wakes it, its status does not") {
  Fixture f;
  auto p = QueuedPod("p");
  f.q->Add(p);
  f.Fail(p, {kFit});
  f.Pass(20);
  f.q->Update(p, false, f.now);
  CHECK(f.Pop() == "");
  f.q->Update(QueuedPod("p", 5), true, f.now);
  CHECK(f.Pop() == "p");
}

TEST_CASE("event queue: after five minutes a pod is tried again all the same") {
  Fixture f;
  auto p = QueuedPod("p");
  f.q->Add(p);
  f.Fail(p, {kFit});
  for (int i = 0; i < 10; ++i) f.Pass(30);
  CHECK(f.Pop() == "");
  CHECK(f.q->NextFlush() <= f.now + absl::Seconds(30));
  f.Pass(30);
  CHECK(f.Pop() == "p");
  CHECK(f.q->NextFlush() == absl::InfiniteDuration());
}

TEST_CASE("event queue: of a node's changes the first in order is reported") {
  api::Node a;
  a.unschedulable = true;
  api::Node b = a;
  CHECK(NodeChange(a, b) == EventKind::kNodeOther);
  b.conditions = {{Symbol("Ready"), Symbol("True")}};
  CHECK(NodeChange(a, b) == EventKind::kNodeConditions);
  b.taints = {{Symbol("k"), Symbol("v"), Symbol("NoSchedule")}};
  CHECK(NodeChange(a, b) == EventKind::kNodeTaints);
  b.labels = api::Labels({{Symbol("l"), Symbol("v")}});
  CHECK(NodeChange(a, b) == EventKind::kNodeLabels);
  b.allocatable = {{Symbol("cpu"), api::Quantity::FromInt(1)}};
  CHECK(NodeChange(a, b) == EventKind::kNodeAllocatable);
  b.unschedulable = false;
  CHECK(NodeChange(a, b) == EventKind::kNodeBecameSchedulable);
}

TEST_CASE("event queue: counts what brought pods where, and whom plugins rejected") {
  Fixture f;
  auto p = QueuedPod("p");
  const auto incoming = [&] {
    std::string text;
    for (const auto& i : f.q->counts().incoming) {
      absl::StrAppend(&text, std::string(i.event), " ", std::string(i.queue), " ", i.pods, "\n");
    }
    return text;
  };
  const auto rejected = [&](Symbol plugin) {
    for (const auto& r : f.q->counts().rejected) {
      if (r.plugin == plugin) return r.pods;
    }
    return int64_t{0};
  };
  f.q->Add(p);
  CHECK(incoming() == "PodAdd active 1\n");
  f.Fail(p, {kFit, Symbol("NodeAffinity")});
  CHECK(rejected(kFit) == 1);
  CHECK(rejected(Symbol("NodeAffinity")) == 1);
  f.Happens(EventKind::kNodeAdd);
  f.Pass(2);
  CHECK(incoming() ==
        "NodeAdd backoff 1\nPodAdd active 1\nScheduleAttemptFailure unschedulable 1\nBackoffComplete active 1\n");
  CHECK(rejected(kFit) == 1);
  CHECK(f.Pop() == "p");
  CHECK(rejected(kFit) == 0);
  f.Reject(p, {kFit});
  f.q->Update(QueuedPod("p", 5), true, f.now + absl::Seconds(20));
  CHECK(incoming().find("PodUpdate active 1\n") != std::string::npos);
  f.q->Delete(*p);
  CHECK(rejected(kFit) == 0);
}

namespace {

// A queue that asks hints. The hint of kFit is that the pod has the name of the event's node, or is the event's pod.
EventQueueOptions WithHints() {
  EventQueueOptions o = WakesOf129();
  o.wakes.queue.asks_hints = true;
  o.wakes.queue.looks_at_nodes = false;
  static const Wake kWakes[] = {{"NodeResourcesFit", EventsOf({EventKind::kNodeAdd, EventKind::kNodeAllocatable,
                                                               EventKind::kNodeLabels, EventKind::kOwnLabels})}};
  o.wakes.rules = kWakes;
  o.may_help = [](const api::Pod& pod, Symbol rule, const ClusterEvent& e) {
    if (rule != kFit) return true;
    if (e.pod() != nullptr) return true;
    const api::Node* n = e.After<api::Node>();
    return n == nullptr || (n->meta.name == pod.meta.name && e.kind != EventKind::kNodeAllocatable);
  };
  return o;
}

EventObjects NodeNamed(const std::string& name) {
  api::Node n;
  n.meta.name = name;
  return EventObject<api::Node>{nullptr, std::make_shared<const api::Node>(n)};
}

}  // namespace

TEST_CASE("event queue: with hints, an event wakes the pods of which a hint says that it may help") {
  Fixture f(WithHints());
  for (const char* name : {"a", "b"}) {
    f.q->Add(QueuedPod(name));
    f.Fail(QueuedPod(name), {kFit});
  }
  f.Pass(20);
  f.q->ClusterChanged({EventKind::kNodeTaints, NodeNamed("b")}, f.now);  // not registered
  CHECK(f.Pop() == "");
  f.q->ClusterChanged({EventKind::kNodeAdd, NodeNamed("b")}, f.now);
  CHECK(f.Pop() == "b");
  CHECK(f.Pop() == "");
  // A rule of which nothing is known is woken by everything.
  f.Reject(QueuedPod("b"), {kFit, Symbol("Mine")});
  f.Pass(20);
  f.q->ClusterChanged({EventKind::kNodeTaints, NodeNamed("c")}, f.now);
  CHECK(f.Pop() == "b");
}

TEST_CASE("event queue: with hints, each change of a node is an event") {
  Fixture f(WithHints());
  f.q->Add(QueuedPod("a"));
  f.Fail(QueuedPod("a"), {kFit});
  f.Pass(20);
  api::Node before;
  before.meta.name.push_back('a');
  api::Node after = before;
  after.allocatable = {{Symbol("cpu"), api::Quantity::FromInt(1)}};  // of which the hint says that it does not help
  const auto change = [&] {
    return EventObject<api::Node>{std::make_shared<const api::Node>(before), std::make_shared<const api::Node>(after)};
  };
  f.q->ClusterChanged({EventKind::kNodeAllocatable, change()}, f.now);
  CHECK(f.Pop() == "");
  after.labels = api::Labels({{Symbol("l"), Symbol("v")}});
  f.q->ClusterChanged({NodeChange(before, after), change()}, f.now);
  CHECK(f.Pop() == "a");
}

TEST_CASE("event queue: with hints, events during an attempt count if they wake the pod") {
  Fixture f(WithHints());
  const api::PodPtr a = QueuedPod("a"), other = QueuedPod("other");
  f.q->Add(other);
  f.q->Add(a);
  REQUIRE(f.Pop() == "other");  // stays under way, so that events are kept for longer than for `a`
  const auto tried_again = [&](const std::string& node) {
    REQUIRE(f.Pop() == "a");
    const uint64_t cycle = f.q->cycle();
    if (!node.empty()) f.q->ClusterChanged({EventKind::kNodeAdd, NodeNamed(node)}, f.now);
    f.q->AddRejected(a, Requeue::kUnschedulable, {kFit}, cycle, f.now);
    const bool waits_for_time = f.q->depth().backoff == 1;
    f.Pass(20);
    if (!waits_for_time) f.q->ClusterChanged({EventKind::kNodeAdd, NodeNamed("a")}, f.now);
    return waits_for_time;
  };
  CHECK(tried_again("a"));
  CHECK_FALSE(tried_again("b"));
  CHECK_FALSE(tried_again(""));  // what was before its attempt does not count
  // Of very many events the oldest count by their kinds.
  REQUIRE(f.Pop() == "a");
  const uint64_t cycle = f.q->cycle();
  for (int i = 0; i < 10100; ++i) f.q->ClusterChanged({EventKind::kNodeAdd, NodeNamed("b")}, f.now);
  f.q->AddRejected(a, Requeue::kUnschedulable, {kFit}, cycle, f.now);
  CHECK(f.q->depth().backoff == 1);
}

TEST_CASE("event queue: the end of a nomination wakes pods that are not more important") {
  EventQueueOptions o;
  o.wakes.queue.asks_hints = true;
  Fixture f(o);
  for (const api::PodPtr& p : {QueuedPod("high", 9), QueuedPod("low", 1)}) {
    f.q->Add(p);
    f.Fail(p, {kFit});
  }
  f.Pass(20);
  f.q->ClusterChanged({EventKind::kAssignedPodDelete, EventObject<api::Pod>{QueuedPod("nominated", 5), nullptr}},
                      f.now);
  CHECK(f.Pop() == "low");
  CHECK(f.Pop() == "");
}

TEST_CASE("event queue: with hints, a change of the pod itself wakes it if a rule waits for such a change") {
  Fixture f(WithHints());
  const api::PodPtr p = QueuedPod("p", 0, "one");
  f.q->Add(p);
  f.Fail(p, {kFit});
  f.Pass(20);
  f.q->Update(QueuedPod("p", 5, "one"), true, f.now);  // another priority
  CHECK(f.Pop() == "");
  f.q->Update(QueuedPod("p", 5, "two"), true, f.now);
  CHECK(f.Pop() == "p");
}

TEST_CASE("event queue: hints are counted by rule, event and answer, and take the time that they take") {
  EventQueueOptions o = WithHints();
  absl::Duration clock;
  o.read_clock = [&] { return clock += absl::Microseconds(30); };
  Fixture f(o);
  for (const char* name : {"a", "b"}) {
    f.q->Add(QueuedPod(name));
    f.Fail(QueuedPod(name), {kFit});
  }
  f.q->ClusterChanged({EventKind::kNodeAdd, NodeNamed("a")}, f.now);
  std::map<std::string, double> counted;
  for (const auto& h : f.q->counts().hints) {
    CHECK(h.took.count() == 1);
    counted[absl::StrCat(h.plugin.string(), " ", std::string(h.event), h.may_help ? " Queue" : " QueueSkip")] =
        h.took.sum();
  }
  CHECK(counted == std::map<std::string, double>{{"NodeResourcesFit NodeAdd Queue", 30e-6},
                                                 {"NodeResourcesFit NodeAdd QueueSkip", 30e-6}});
}

TEST_CASE("event queue: with hints, events are in flight while a pod is tried that may need them") {
  Fixture f(WithHints());
  const auto in_flight = [&] {
    std::map<std::string, int64_t> all;
    for (const auto& [event, events] : f.q->counts().in_flight) all[std::string(event)] = events;
    return all;
  };
  f.Happens(EventKind::kNodeAdd);  // nobody is tried
  CHECK(in_flight().empty());
  const api::PodPtr p = QueuedPod("p");
  f.q->Add(p);
  CHECK(f.Pop() == "p");
  f.Happens(EventKind::kNodeAdd);
  f.Happens(EventKind::kNodeAdd);
  CHECK(in_flight() == std::map<std::string, int64_t>{{"NodeAdd", 2}, {"PodPopped", 1}});
  f.Reject(p, {kFit});
  CHECK(in_flight() == std::map<std::string, int64_t>{{"NodeAdd", 0}, {"PodPopped", 0}});
}

TEST_CASE("event queue: it is known of a pod that no event had made it ready") {
  Fixture f(WithHints());
  const api::PodPtr p = QueuedPod("p");
  f.q->Add(p);
  f.Fail(p, {kFit});
  f.Pass(331);
  CHECK(f.Pop() == "p");
  CHECK(f.q->WasFlushed(*p));
  f.Reject(p, {kFit});
  CHECK_FALSE(f.q->WasFlushed(*p));
  f.q->Update(QueuedPod("p", 0, "two"), true, f.now);
  f.Pass(20);
  CHECK(f.Pop() == "p");
  CHECK_FALSE(f.q->WasFlushed(*p));
}

TEST_CASE("event queue: what an update changes of a waiting pod") {
  const api::PodPtr one = QueuedPod("p", 0, "one"), two = QueuedPod("p", 0, "two");
  CHECK(OwnChanges(*one, *two) == EventsOf({EventKind::kOwnLabels}));
  CHECK(OwnChanges(*one, *one) == EventsOf({EventKind::kOwnOther}));
  api::PodTemplate t = *two->tmpl;
  t.tolerations.emplace_back();
  auto tolerant = std::make_shared<api::Pod>(*two);
  tolerant->tmpl = api::PodTemplate::Intern(std::move(t));
  tolerant->claim_statuses.Ensure().emplace_back("r", "claim");
  CHECK(OwnChanges(*one, *tolerant) ==
        EventsOf({EventKind::kOwnLabels, EventKind::kOwnTolerations, EventKind::kOwnClaims}));
}

}  // namespace berth::scheduler
