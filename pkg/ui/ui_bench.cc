// Measures what the page costs the scheduler's thread: a snapshot, a step of a copy of the cluster, and the record of a
// decision; and what it costs the server's thread to compute changes.
#include <absl/strings/str_cat.h>
#include <benchmark/benchmark.h>

#include <memory>

#include "pkg/scheduler/testing/new_objects.h"
#include "pkg/ui/answers.h"
#include "pkg/ui/live_source.h"

namespace berth::ui {
namespace {

using scheduler::testing::NewNode;
using scheduler::testing::NewPod;

// Nodes with thirty pods each.
std::unique_ptr<scheduler::Cache> CacheOf(int64_t nodes) {
  auto cache = std::make_unique<scheduler::Cache>();
  for (int64_t i = 0; i < nodes; ++i) {
    const std::string name = absl::StrCat("node-", i);
    cache->AddNode(NewNode(name, 64));
    for (int k = 0; k < 30; ++k) {
      auto pod = NewPod(absl::StrCat("pod-", i, "-", k));
      pod->node_name = util::Symbol(name);
      if (!cache->AddPod(pod).ok()) std::abort();
    }
  }
  return cache;
}

void CopyOfNodes(benchmark::State& state) {
  const auto cache = CacheOf(state.range(0));
  for (auto _ : state) {
    auto s = std::make_unique<Snapshot>();
    CopyNodes(*cache, s.get());
    benchmark::DoNotOptimize(s);
    state.PauseTiming();
    s.reset();  // on another thread
    state.ResumeTiming();
  }
}
BENCHMARK(CopyOfNodes)->Arg(1000)->Arg(5000)->Arg(10000)->Unit(benchmark::kMicrosecond);

void NoteOfADecision(benchmark::State& state) {
  const util::RealClock clock;
  History history(&clock);
  const auto pod = NewPod("pod-with-a-name-of-usual-length");
  scheduler::Decision d;
  d.outcome = state.range(0) == 0 ? scheduler::Decision::Outcome::kPlaced : scheduler::Decision::Outcome::kUnfit;
  if (state.range(0) == 0) d.host = util::Symbol("node");
  if (state.range(0) == 1)
    d.error = "0/5000 nodes are available: 100 node(s) were unschedulable, 4900 Insufficient cpu.";
  for (auto _ : state) history.Decided(pod, d, 0);
}
BENCHMARK(NoteOfADecision)->Arg(0)->Arg(1)->ArgName("unfit");

void ChangesOfAThousandNodes(benchmark::State& state) {
  const auto cache = CacheOf(state.range(0));
  Snapshot before, now;
  CopyNodes(*cache, &before);
  CopyNodes(*cache, &now);
  for (size_t i = 0; i < 1000; ++i) ++now.nodes[i].second.cpu_used;
  for (auto _ : state) {
    bool whole = false;
    benchmark::DoNotOptimize(NodesDeltaJson(before, now, "", &whole));
  }
}
BENCHMARK(ChangesOfAThousandNodes)->Arg(5000)->Arg(10000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace berth::ui
