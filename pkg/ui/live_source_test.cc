#include "pkg/ui/live_source.h"

#include <absl/strings/str_cat.h>
#include <rapidcheck.h>

#include <catch2/catch.hpp>

#include <deque>
#include <future>
#include <map>
#include <set>

#include "pkg/scheduler/testing/scheduler_case.h"
#include "pkg/ui/answers.h"

namespace berth::ui {
namespace {

using scheduler::testing::Case;
using scheduler::testing::NewNode;
using scheduler::testing::NewPod;

// Runs the functions of both threads one at a time, so that a test decides what happens between them.
struct Threads {
  std::deque<std::function<void()>> scheduler, server;
  LiveSource::Post ToScheduler() {
    return [this](std::function<void()> f) { scheduler.push_back(std::move(f)); };
  }
  LiveSource::Post ToServer() {
    return [this](std::function<void()> f) { server.push_back(std::move(f)); };
  }
  static bool RunOne(std::deque<std::function<void()>>* queue) {
    if (queue->empty()) return false;
    auto f = std::move(queue->front());
    queue->pop_front();
    f();
    return true;
  }
  void RunAll() {
    while (RunOne(&scheduler) || RunOne(&server)) {
    }
  }
};

struct Live {
  Live()
      : source(
            threads.ToScheduler(), threads.ToServer(), [](absl::Duration, const auto&) {}, &c.w.clock) {
    source.Begin({&c.w.cache, c.w.queue.get(), c.w.scheduler.get(), [] { return true; }});
  }
  Case c;
  Threads threads;
  LiveSource source;
};

std::multiset<std::string> Names(const std::vector<api::PodPtr>& pods) {
  std::multiset<std::string> out;
  for (const auto& p : pods) out.insert(p->meta.name);
  return out;
}

}  // namespace

TEST_CASE(
    "live source: nobody asks, nothing is copied; all who ask at a time share one copy for a quarter of a second") {
  Live live;
  live.c.Add(NewNode("n", 4));
  CHECK(live.threads.scheduler.empty());
  std::vector<std::shared_ptr<const Snapshot>> got;
  const auto ask = [&] { live.source.GetSnapshot([&](auto s) { got.push_back(std::move(s)); }); };
  ask();
  ask();
  CHECK(live.threads.scheduler.size() == 1);
  live.threads.RunAll();
  ask();
  REQUIRE(got.size() == 3);
  CHECK((got[0] == got[1] && got[1] == got[2]));
  live.c.w.clock.Advance(absl::Milliseconds(250));
  ask();
  CHECK(live.threads.scheduler.size() == 1);
  live.threads.RunAll();
  REQUIRE(got.size() == 4);
  CHECK(got[3] != got[0]);
}

TEST_CASE("live source: a snapshot says what the scheduler knows") {
  Live live;
  live.c.Add(NewNode("n", 4));
  live.c.Add(NewPod("fits", {.cpu = 3}));
  live.c.Add(NewPod("does-not", {.cpu = 30}));
  live.c.Run();
  std::shared_ptr<const Snapshot> s;
  live.source.GetSnapshot([&](auto got) { s = got; });
  live.threads.RunAll();
  REQUIRE(s->nodes.size() == 1);
  CHECK(s->nodes[0].first->meta.name == "n");
  CHECK((s->nodes[0].second.cpu == 4000 && s->nodes[0].second.cpu_used == 3000 && s->nodes[0].second.pods_used == 1));
  CHECK((s->pods == 1 && s->pending == 2 && s->metrics.unschedulable == 1 && s->leading));

  std::shared_ptr<const PendingPods> pending;
  live.source.GetPending([&](auto got) { pending = got; });
  live.threads.RunAll();
  REQUIRE(pending->size() == 2);
  for (const PendingPod& p : *pending) {
    CHECK(p.attempts == 1);
    CHECK(p.reasons.size() == (p.pod->meta.name == "fits" ? 0 : 1));
  }
}

TEST_CASE("live source: pending pods are copied in steps; none is missed or twice, whatever comes and goes in between",
          "[no-threads]") {
  rc::check([] {
    Live live;
    const int n = *rc::gen::inRange(4000, 13000);
    std::vector<std::shared_ptr<api::Pod>> pods;
    for (int i = 0; i < n; ++i) {
      pods.push_back(NewPod(absl::StrCat("p", i)));
      live.c.Add(pods.back());
    }
    std::shared_ptr<const PendingPods> copy;
    live.source.GetPending([&](auto got) { copy = got; });
    std::set<std::string> stays, ever;
    for (const auto& p : pods) stays.insert(p->meta.name), ever.insert(p->meta.name);
    int born = 0;
    while (copy == nullptr) {
      Threads::RunOne(&live.threads.scheduler);
      Threads::RunOne(&live.threads.server);
      for (int i = *rc::gen::inRange(0, 30); i > 0 && !pods.empty(); --i) {
        const auto at = static_cast<size_t>(*rc::gen::inRange(0, static_cast<int>(pods.size())));
        stays.erase(pods[at]->meta.name);
        live.c.Gone(pods[at]);
        pods.erase(pods.begin() + static_cast<ptrdiff_t>(at));
        auto fresh = NewPod(absl::StrCat("new", born++));
        ever.insert(fresh->meta.name);
        live.c.Add(fresh);
      }
    }
    std::set<std::string> seen;
    for (const PendingPod& p : *copy) {
      RC_ASSERT(seen.insert(p.pod->meta.name).second);
      RC_ASSERT(ever.contains(p.pod->meta.name));
    }
    for (const std::string& name : stays) RC_ASSERT(seen.contains(name));
  });
}

TEST_CASE("live source: a copy of the cluster is what the cache holds when the last step ends, also the next time",
          "[no-threads]") {
  rc::check([] {
    Live live;
    std::map<std::string, std::vector<std::shared_ptr<api::Pod>>> pods;
    int made = 0;
    const auto change = [&] {
      const std::string node = absl::StrCat("n", *rc::gen::inRange(0, 300));
      if (!pods.contains(node)) live.c.Add(NewNode(node, 100));
      auto& on = pods[node];
      if (!on.empty() && *rc::gen::arbitrary<bool>()) {
        live.c.Gone(on.back());
        on.pop_back();
        return;
      }
      for (int i = *rc::gen::inRange(1, 60); i > 0; --i) {
        on.push_back(NewPod(absl::StrCat("p", made++)));
        on.back()->node_name = util::Symbol(node);
        live.c.Add(on.back());
      }
    };
    for (int i = 0; i < 400; ++i) change();
    for (int copies = 0; copies < 3; ++copies) {
      std::shared_ptr<const Cluster> copy;
      live.source.GetCluster([&](auto got) { copy = got; });
      std::map<std::string, std::multiset<std::string>> expected;
      int changes = 200;
      while (copy == nullptr) {
        if (!live.threads.server.empty()) {
          Threads::RunOne(&live.threads.server);
          continue;
        }
        if (changes-- > 0) change();
        expected.clear();
        const scheduler::Cache& cache = live.c.w.cache;
        for (scheduler::Row r = 0; r < cache.row_count(); ++r) {
          for (const auto& p : cache.row(r).pods) expected[cache.row(r).name.string()].insert(p.pod->meta.name);
        }
        Threads::RunOne(&live.threads.scheduler);
      }
      std::map<std::string, std::multiset<std::string>> is;
      for (const auto& row : copy->rows) {
        if (row != nullptr && !row->pods.empty()) is[row->node->meta.name] = Names(row->pods);
      }
      RC_ASSERT(is == expected);
      live.c.w.clock.Advance(absl::Seconds(3));
    }
  });
}

TEST_CASE("live source: work is done in order, and its end comes on the server's thread") {
  std::vector<int> order;
  std::mutex mutex;
  std::condition_variable news;
  std::deque<std::function<void()>> server;
  const auto to_server = [&](std::function<void()> f) {
    std::lock_guard lock(mutex);
    server.push_back(std::move(f));
    news.notify_all();
  };
  const util::RealClock clock;
  LiveSource source([](const auto&) {}, to_server, [](absl::Duration, const auto&) {}, &clock);
  int done = 0;
  for (int i = 0; i < 100; ++i) source.Work([&order, i] { order.push_back(i); }, [&done] { ++done; });
  while (done < 100) {
    std::unique_lock lock(mutex);
    news.wait(lock, [&] { return !server.empty(); });
    auto f = std::move(server.front());
    server.pop_front();
    lock.unlock();
    f();
  }
  for (int i = 0; i < 100; ++i) CHECK(order[static_cast<size_t>(i)] == i);
}

// ---- history ----------------------------------------------------------------------------------------

TEST_CASE("history: the last attempts of each kind are remembered, and pods are found by name") {
  util::ManualClock clock;
  History h(&clock);
  scheduler::Decision placed, unfit;
  placed.outcome = scheduler::Decision::Outcome::kPlaced;
  placed.host = util::Symbol("n");
  unfit.outcome = scheduler::Decision::Outcome::kUnfit;
  unfit.error = std::string(5000, 'x');
  h.Decided(NewPod("first"), placed, 0);
  h.Decided(NewPod("large"), unfit, 0);
  for (size_t i = 0; i < History::kMostAttempts; ++i) h.Decided(NewPod(absl::StrCat("p", i)), placed, 0);
  CHECK(h.AttemptsOf("default/first", 10).empty());
  CHECK(h.AttemptsOf("default/p0", 10).size() == 1);
  REQUIRE(h.AttemptsOf("default/large", 10).size() == 1);
  CHECK(h.AttemptsOf("default/large", 10)[0].message.size() == History::kMostMessage);
  clock.Advance(absl::Seconds(1));
  h.Decided(NewPod("p7"), unfit, 0);
  const auto attempts = h.AttemptsOf("default/p7", 10);
  REQUIRE(attempts.size() == 2);
  CHECK((attempts[0].node.empty() && attempts[1].node.str() == "n"));
  CHECK(h.AttemptsOf("default/p7", 1).size() == 1);
}

TEST_CASE("history: rates are what happened in ten seconds, for an hour") {
  util::ManualClock clock;
  History h(&clock);
  scheduler::SchedulerMetrics m;
  for (int second = 0; second < 2 * 3600; ++second) {
    m.bound += 3;
    h.Sample(m, static_cast<size_t>(second));
    clock.Advance(absl::Seconds(1));
  }
  const auto rates = h.Rates();
  REQUIRE(rates.size() == History::kMostRates);
  for (const auto& r : rates) CHECK(r.bound == 30);
  CHECK(rates.back().pending == 7190);
}

TEST_CASE("history: preemptions are found by the pod that was helped and by its victims") {
  util::ManualClock clock;
  History h(&clock);
  scheduler::Preemption none, some;
  some.node = util::Symbol("n");
  for (size_t i = 0; i < History::kMostVictims + 5; ++i) some.victims.push_back(NewPod(absl::StrCat("v", i)));
  h.PreemptionChosen(NewPod("a"), none);
  CHECK(h.Preemptions().empty());
  h.PreemptionChosen(NewPod("a"), some);
  CHECK(h.PreemptionsOf("default/a").size() == 1);
  REQUIRE(h.PreemptionsOf("default/v3").size() == 1);
  CHECK(h.PreemptionsOf("default/v3")[0].victims.size() == History::kMostVictims);
  CHECK(h.PreemptionsOf("default/v3")[0].victim_count == History::kMostVictims + 5);
  for (size_t i = 0; i < History::kMostPreemptions; ++i) h.PreemptionChosen(NewPod("b"), some);
  CHECK(h.PreemptionsOf("default/a").empty());
}

}  // namespace berth::ui
