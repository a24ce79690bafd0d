#include "pkg/scheduler/queue/scheduling_queue.h"

#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "pkg/scheduler/queue/pod_backoff.h"

namespace berth::scheduler {
namespace {

using util::Symbol;

struct PodSpec {
  int32_t priority = 0;
  std::string near = {};  // required pod affinity to app=<near>
  std::string app = {};
  std::string nominated = {};
};

api::PodPtr MakePod(const std::string& name, const PodSpec& spec = {}) {
  api::PodTemplate t;
  t.ns = Symbol("default");
  t.priority = spec.priority;
  if (!spec.app.empty()) t.labels = api::Labels({{Symbol("app"), Symbol(spec.app)}});
  if (!spec.near.empty()) {
    api::PodAffinityTerm term;
    term.namespaces = {Symbol("default")};
    term.selector.selector = api::Selector::FromMap(api::Labels({{Symbol("app"), Symbol(spec.near)}}));
    t.affinity.pod.emplace().required.push_back(term);
  }
  auto p = std::make_shared<api::Pod>();
  p->meta.name = name;
  p->meta.ns = t.ns;
  p->meta.uid = "uid-" + name;
  p->nominated_node_name = Symbol(spec.nominated);
  p->tmpl = std::make_shared<api::PodTemplate>(t);
  return p;
}

std::string PopAll(SchedulingQueue& q) {
  std::string names;
  while (api::PodPtr p = q.Pop()) absl::StrAppend(&names, names.empty() ? "" : " ", p->meta.name);
  return names;
}

absl::Duration At(double seconds) {
  return absl::Seconds(seconds);
}

TEST_CASE("FIFO: order of arrival, whatever the priority") {
  auto q = NewFifo();
  q->Add(MakePod("a"));
  q->Add(MakePod("b", {.priority = 100}));
  q->Add(MakePod("c"));
  CHECK(q->depth().active == 3);
  CHECK(PopAll(*q) == "a b c");
  CHECK(q->Pop() == nullptr);
}

TEST_CASE("FIFO: an update replaces the pod and keeps its position") {
  auto q = NewFifo();
  q->Add(MakePod("a"));
  q->Add(MakePod("b"));
  q->Update(MakePod("a", {.priority = 7}), true, At(0));
  api::PodPtr first = q->Pop();
  CHECK(first->meta.name == "a");
  CHECK(first->Priority() == 7);
  q->AddIfNotPresent(MakePod("b", {.priority = 9}));
  CHECK(q->Pop()->Priority() == 0);
}

TEST_CASE("FIFO: a pod deleted and added again takes its old position, once") {
  auto q = NewFifo();
  q->Add(MakePod("a"));
  q->Add(MakePod("b"));
  q->Delete(*MakePod("a"));
  CHECK_FALSE(q->Has(*MakePod("a")));
  q->Add(MakePod("a"));
  CHECK(PopAll(*q) == "a b");
}

TEST_CASE("FIFO: once no pod is left, a deleted pod's position is forgotten, popped from or not") {
  for (const bool pop : {false, true}) {
    auto q = NewFifo();
    q->Add(MakePod("a"));
    q->Add(MakePod("b"));
    q->Delete(*MakePod("a"));
    CHECK(q->Pop()->meta.name == "b");
    if (pop) CHECK(q->Pop() == nullptr);
    q->Add(MakePod("c"));
    q->Add(MakePod("a"));
    CHECK(PopAll(*q) == "c a");
  }
}

TEST_CASE("FIFO: a standby that never pops does not grow") {
  auto q = NewFifo();
  for (int i = 0; i < 100'000; ++i) {
    api::PodPtr p = MakePod(absl::StrCat("p", i % 10));
    q->Add(p);
    if (i < 99'990) q->Delete(*p);
  }
  CHECK(q->depth().active == 10);
  CHECK(PopAll(*q).size() == 10 * 2 + 9);  // each of the ten pods is popped once
}

TEST_CASE("FIFO: failed pods come back at the end; nothing waits for moves") {
  auto q = NewFifo();
  q->Add(MakePod("a"));
  q->AddUnschedulableIfNotPresent(MakePod("b"), Requeue::kUnschedulable, 0, At(0));
  q->AddUnschedulableIfNotPresent(MakePod("a"), Requeue::kUnschedulable, 0, At(0));
  CHECK(PopAll(*q) == "a b");
  CHECK(q->NextFlush() == absl::InfiniteDuration());
  CHECK(q->nominated() == nullptr);
}

TEST_CASE("PriorityQueue: higher priority first, equals by arrival") {
  auto q = NewPriorityQueue();
  q->Add(MakePod("low-1", {.priority = -5}));
  q->Add(MakePod("mid-1"));
  q->Add(MakePod("high-1", {.priority = 2'000'000'000}));
  q->Add(MakePod("mid-2"));
  q->Add(MakePod("high-2", {.priority = 2'000'000'000}));
  q->Add(MakePod("mid-3"));
  CHECK(PopAll(*q) == "high-1 high-2 mid-1 mid-2 mid-3 low-1");
}

TEST_CASE("PriorityQueue: equals by their last tries or creation where the release does so") {
  QueueOptions options;
  options.wakes.queue.backs_off = false;
  options.wakes.queue.orders_by_last_try = true;
  auto q = NewPriorityQueue(options);
  auto created = [](const std::string& name, int64_t seconds, const std::string& probe = {}, int32_t priority = 0) {
    auto p = std::make_shared<api::Pod>(*MakePod(name, {.priority = priority}));
    p->meta.creation_seconds = seconds;
    if (!probe.empty()) p->scheduled = api::PodCondition{"False", "Unschedulable", "", probe, "2026-01-01T00:00:00Z"};
    return p;
  };
  q->Add(created("late", 1767225700));  // 2026-01-01T00:01:40Z
  q->Add(created("tried", 1767225600, "2026-01-01T00:01:30Z"));
  q->Add(created("early", 1767225660));
  q->Add(created("high", 1767225700, "", 1));
  q->Add(created("same", 1767225660));
  CHECK(PopAll(*q) == "high early same tried late");
  q->Add(created("a", 1));
  q->Add(created("b", 2));
  q->Update(created("a", 1, "2026-01-01T00:00:00Z"), false, At(0));
  CHECK(PopAll(*q) == "b a");
}

TEST_CASE("PriorityQueue: without back-offs a pod waits if its condition says so, also after an error") {
  QueueOptions options;
  options.wakes.queue.backs_off = false;
  auto q = NewPriorityQueue(options);
  auto with = [](const std::string& reason) {
    auto p = std::make_shared<api::Pod>(*MakePod("a"));
    p->scheduled = api::PodCondition{"False", reason, "", "", "2026-01-01T00:00:00Z"};
    return p;
  };
  q->Add(MakePod("a"));
  REQUIRE(q->Pop() != nullptr);
  q->AddUnschedulableIfNotPresent(with("Unschedulable"), Requeue::kRetry, q->cycle(), At(0));
  CHECK(q->depth().unschedulable == 1);
  q->MoveAllToActiveQueue(At(1));
  REQUIRE(q->Pop() != nullptr);
  q->AddUnschedulableIfNotPresent(with("BindingRejected"), Requeue::kRetry, q->cycle(), At(2));
  CHECK(q->Pop() != nullptr);
}

TEST_CASE("PriorityQueue: replaced in place, moved when the priority changes") {
  auto q = NewPriorityQueue();
  q->Add(MakePod("a"));
  q->Add(MakePod("b"));
  q->Update(MakePod("a", {.app = "x"}), true, At(0));
  CHECK(q->depth().active == 2);
  q->Update(MakePod("b", {.priority = 1}), true, At(0));
  CHECK(PopAll(*q) == "b a");
}

TEST_CASE("PriorityQueue: an unschedulable pod waits for a move, and for its back-off") {
  auto q = NewPriorityQueue();
  q->Add(MakePod("a"));
  api::PodPtr a = q->Pop();
  const uint64_t cycle = q->cycle();
  q->AddUnschedulableIfNotPresent(a, Requeue::kUnschedulable, cycle, At(10));
  CHECK(q->depth().unschedulable == 1);
  q->Flush(At(15));
  CHECK(q->Pop() == nullptr);

  SECTION("moved after its back-off: at once") {
    q->MoveAllToActiveQueue(At(12));
    CHECK(PopAll(*q) == "a");
  }
  SECTION("moved within its back-off: when that is over") {
    q->MoveAllToActiveQueue(At(10.5));
    CHECK(q->depth().backoff == 1);
    CHECK(q->NextFlush() == At(11));
    q->Flush(At(10.9));
    CHECK(q->Pop() == nullptr);
    q->Flush(At(11));
    CHECK(PopAll(*q) == "a");
  }
  SECTION("a change of its spec ends the back-off, a change of its status does not") {
    q->Update(a, false, At(10.1));
    CHECK(q->Pop() == nullptr);
    q->Update(a, true, At(10.2));
    CHECK(PopAll(*q) == "a");
  }
  SECTION("forgotten when deleted") {
    q->Delete(*a);
    q->MoveAllToActiveQueue(At(100));
    CHECK(q->Pop() == nullptr);
    CHECK_FALSE(q->Has(*a));
  }
  SECTION("present already: nothing") {
    q->AddIfNotPresent(MakePod("a", {.priority = 5}));
    q->AddUnschedulableIfNotPresent(MakePod("a", {.priority = 5}), Requeue::kRetry, cycle, At(10));
    CHECK(q->depth().unschedulable == 1);
    CHECK(q->depth().backoff == 0);
  }
  SECTION("added as new: active at once") {
    q->Add(a);
    CHECK(q->depth().unschedulable == 0);
    CHECK(PopAll(*q) == "a");
  }
}

TEST_CASE("PriorityQueue: a move during a pod's attempt counts, one before it does not") {
  auto q = NewPriorityQueue();
  q->MoveAllToActiveQueue(At(0));
  q->Add(MakePod("a"));
  api::PodPtr a = q->Pop();
  const uint64_t cycle_a = q->cycle();
  SECTION("before") {
    q->AddUnschedulableIfNotPresent(a, Requeue::kUnschedulable, cycle_a, At(1));
    CHECK(q->depth().unschedulable == 1);
  }
  SECTION("during, with other pods popped since") {
    q->MoveAllToActiveQueue(At(0));
    q->Add(MakePod("b"));
    q->Pop();
    q->AddUnschedulableIfNotPresent(a, Requeue::kUnschedulable, cycle_a, At(1));
    CHECK(q->depth().unschedulable == 0);
    CHECK(q->depth().backoff == 1);
  }
}

TEST_CASE("PriorityQueue: back-off doubles from 1 s to 60 s, and a retry needs no move") {
  auto q = NewPriorityQueue();
  absl::Duration now = At(0);
  std::vector<double> waits;
  api::PodPtr a = MakePod("a");
  for (int i = 0; i < 8; ++i) {
    q->AddUnschedulableIfNotPresent(a, Requeue::kRetry, q->cycle(), now);
    waits.push_back(absl::ToDoubleSeconds(q->NextFlush() - now));
    now = q->NextFlush();
    q->Flush(now);
    REQUIRE(q->Pop() != nullptr);
  }
  CHECK(waits == std::vector<double>{1, 2, 4, 8, 16, 32, 60, 60});
  q->Delete(*a);  // as after a bind
  q->AddUnschedulableIfNotPresent(a, Requeue::kRetry, q->cycle(), now);
  CHECK(q->NextFlush() - now == At(1));
}

TEST_CASE("PriorityQueue: a pod that keeps failing does not starve its equals") {
  auto q = NewPriorityQueue();
  q->Add(MakePod("greedy", {.priority = 10}));
  q->Add(MakePod("other", {.priority = 10}));
  q->Add(MakePod("modest"));
  api::PodPtr greedy = q->Pop();
  q->MoveAllToActiveQueue(At(0));
  q->AddUnschedulableIfNotPresent(greedy, Requeue::kUnschedulable, q->cycle(), At(0));
  q->MoveAllToActiveQueue(At(0));
  CHECK(PopAll(*q) == "other modest");
}

TEST_CASE("PriorityQueue: a placed pod wakes those that want to be near it, and only those") {
  auto q = NewPriorityQueue();
  for (const char* near : {"web", "db", ""}) {
    api::PodPtr p = MakePod(absl::StrCat("near-", near), {.near = near});
    q->AddUnschedulableIfNotPresent(p, Requeue::kUnschedulable, q->cycle(), At(0));
  }
  q->AssignedPodAdded(*MakePod("w", {.app = "web"}), At(5));
  CHECK(PopAll(*q) == "near-web");
  q->AssignedPodUpdated(*MakePod("d", {.app = "db"}), At(5));
  CHECK(PopAll(*q) == "near-db");
  CHECK(q->depth().unschedulable == 1);

  // A pod whose attempt was under way is tried again if it has required pod affinity.
  q->AssignedPodAdded(*MakePod("x", {.app = "x"}), At(6));
  q->AddUnschedulableIfNotPresent(MakePod("p1", {.near = "x"}), Requeue::kUnschedulable, q->cycle(), At(6));
  q->AddUnschedulableIfNotPresent(MakePod("p2"), Requeue::kUnschedulable, q->cycle(), At(6));
  CHECK(q->depth().backoff == 1);
  CHECK(q->depth().unschedulable == 2);
}

TEST_CASE("PriorityQueue: a pod that waited a minute is tried again without any change") {
  auto q = NewPriorityQueue();
  q->AddUnschedulableIfNotPresent(MakePod("a"), Requeue::kUnschedulable, q->cycle(), At(0));
  absl::Duration now;
  int flushes = 0;
  while (q->depth().unschedulable == 1) {
    REQUIRE(q->NextFlush() > now);
    now = q->NextFlush();
    q->Flush(now);
    REQUIRE(++flushes < 10);
  }
  CHECK(now >= At(60));
  CHECK(now <= At(90));
  CHECK(PopAll(*q) == "a");
}

TEST_CASE("PriorityQueue: nominations follow the pod through the queue") {
  auto q = NewPriorityQueue();
  const Symbol n1("n1");
  api::PodPtr a = MakePod("a", {.nominated = "n1"});
  q->Add(a);
  CHECK(q->nominated()->For(n1).size() == 1);
  q->Pop();
  CHECK(q->nominated()->For(n1).empty());
  q->AddUnschedulableIfNotPresent(a, Requeue::kUnschedulable, q->cycle(), At(0));
  CHECK(q->nominated()->For(n1).size() == 1);
  q->Update(MakePod("a", {.nominated = "n2"}), false, At(0));
  CHECK(q->nominated()->For(n1).empty());
  CHECK(q->nominated()->For(Symbol("n2")).size() == 1);
  q->Delete(*a);
  CHECK(q->nominated()->empty());
}

TEST_CASE("PodBackoff forgets only pods that are not waiting") {
  PodBackoff b(absl::Seconds(1), absl::Seconds(60));
  for (int i = 0; i < 10; ++i) b.Next("default/a", At(0));
  CHECK(b.Next("default/a", At(0)) == At(60));
  b.Collect(At(119));
  CHECK(b.size() == 1);
  b.Collect(At(121));
  CHECK(b.size() == 0);
  CHECK(b.Next("default/a", At(121)) == At(1));
}

}  // namespace
}  // namespace berth::scheduler
