// Measures what a recording costs: the life of a pod (it appears, is decided, bound, confirmed and seen on its node) as
// the daemon's scheduler thread processes it, without a recording and with one. The time is the CPU time of all
// threads, including the one that writes, for each pod.
#include <absl/strings/str_cat.h>
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/decode.h"
#include "pkg/api/scheduling_fields.h"
#include "pkg/recording/core.h"
#include "pkg/recording/recorder.h"
#include "pkg/recording/tap.h"

namespace berth::recording {
namespace {

constexpr int kNodes = 1000, kPods = 20'000, kTemplates = 50, kRound = 100;

template <typename T>
T Decoded(absl::StatusOr<T> (*decode)(api::Json, const api::DecodeOptions&), const std::string& json) {
  api::Document d;
  if (!d.Parse(json).ok()) std::abort();
  auto object = decode(d.root(), {});
  if (!object.ok()) std::abort();
  return *object;
}

std::vector<api::NodePtr> Nodes() {
  std::vector<api::NodePtr> out;
  for (int i = 0; i < kNodes; ++i) {
    out.push_back(Decoded(api::DecodeNode,
                          absl::StrCat(R"({"metadata":{"name":"node-)", 10000 + i,
                                       R"("},"status":{"allocatable":{"cpu":"64","memory":"256Gi","pods":"110"},)",
                                       R"("conditions":[{"type":"Ready","status":"True"}]}})")));
  }
  return out;
}

std::vector<api::PodPtr> Pods() {
  std::vector<api::PodPtr> out;
  for (int i = 0; i < kPods; ++i) {
    out.push_back(Decoded(
        api::DecodePod,
        absl::StrCat(R"({"metadata":{"name":"web-)", i % kTemplates, "-", 100000 + i * 7919 % 900000,
                     R"(","namespace":"production","uid":"6fd1cdc4-c5cc-44dd-a86b-)", 100000000000 + i * int64_t{7919},
                     R"(","resourceVersion":")", 1000 + i,
                     R"(","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"app":"web-)", i % kTemplates,
                     R"("}},"spec":{"containers":[{"resources":{"requests":{"cpu":"100m","memory":"128Mi"}}}]}})")));
  }
  return out;
}

// Confirms every bind, and remembers which pods are then seen on which nodes.
class Binds final : public scheduler::Actions {
 public:
  void Bind(scheduler::RequestId id, const api::PodPtr& pod, scheduler::Extender*) override {
    open.emplace_back(id, pod);
  }
  void UpdatePodCondition(scheduler::RequestId, const api::PodPtr&, const api::PodCondition&) override {}
  void SetNominatedNode(scheduler::RequestId, const api::PodPtr&, util::Symbol) override {}
  void DeletePod(scheduler::RequestId, const api::PodPtr&) override {}
  void GetPod(scheduler::RequestId, const api::Pod&) override {}
  void GetNode(scheduler::RequestId, util::Symbol) override {}
  void UpdateVolume(scheduler::RequestId, const scheduler::VolumeBinder::Binding&) override {}
  void RecordEvent(const api::PodPtr&, scheduler::EventType, std::string_view, std::string) override {}

  std::vector<std::pair<scheduler::RequestId, api::PodPtr>> open;
};

CoreConfiguration Config() {
  CoreConfiguration c;
  c.gates = {{"PodPriority", false}, {"VolumeScheduling", false}};
  c.profiles = {{"default-scheduler", "DefaultProvider", "", ""}};
  return c;
}

// `in` is the Tap or, without one, the scheduler.
template <typename Inputs>
void Live(Inputs& in, const std::vector<api::NodePtr>& nodes, const std::vector<api::PodPtr>& pods, Binds* binds,
          Tap* tap) {
  int64_t version = 1'000'000;
  for (const auto& n : nodes) in.Apply(scheduler::Change<api::Node>{nullptr, n});
  for (size_t begin = 0; begin < pods.size(); begin += kRound) {
    const size_t end = std::min(begin + kRound, pods.size());
    for (size_t i = begin; i < end; ++i) in.Apply(scheduler::Change<api::Pod>{nullptr, pods[i]});
    while (in.ScheduleOne()) {
    }
    std::vector<std::pair<api::PodPtr, api::PodPtr>> seen;
    for (auto& [id, bound] : binds->open) {
      in.Apply(scheduler::Reply{id, {}, nullptr});
      auto now = std::make_shared<api::Pod>(*bound);
      now->meta.resource_version = absl::StrCat(++version);
      now->scheduled = api::PodCondition{"True", "", "", "", "2026-01-01T00:00:01Z"};
      auto before = std::make_shared<api::Pod>(*bound);
      before->node_name = util::SharedSymbol();
      seen.emplace_back(std::move(before), std::move(now));
    }
    for (auto& [before, now] : seen) in.Apply(scheduler::Change<api::Pod>{before, now});
    binds->open.clear();
    if (tap != nullptr) tap->Flush();
  }
}

void LifeOfAPod(benchmark::State& state) {
  api::KeepSchedulingFields();
  const auto nodes = Nodes();
  const auto pods = Pods();
  const util::RealClock clock;
  uint64_t bytes = 0;
  for (auto _ : state) {
    Binds binds;
    Tap tap(nullptr, &binds, &clock, nullptr);
    const bool recorded = state.range(0) != 0;
    Core::Surroundings around;
    around.actions = recorded ? static_cast<scheduler::Actions*>(&tap) : &binds;
    around.clock = recorded ? static_cast<const util::Clock*>(&tap) : &clock;
    if (recorded) around.observer = &tap;
    const auto core = Core::Make(Config(), around).value();
    if (!recorded) {
      Live(*core->scheduler, nodes, pods, &binds, nullptr);
      continue;
    }
    char dir[] = "/tmp/recording-bench-XXXXXX";
    RecorderOptions o;
    o.dir = mkdtemp(dir);
    o.max_buffered = 10'000'000;
    Header h;
    h.version = "bench";
    h.run = "run";
    h.configuration = Config();
    auto recorder = Recorder::Open(o, std::move(h)).value();
    tap.set_sink(recorder.get());
    tap.Attach(core->scheduler.get());
    Live(tap, nodes, pods, &binds, &tap);
    recorder.reset();
    state.PauseTiming();
    const auto segments = ListSegments(o.dir).value();
    for (const std::string& s : segments) {
      if (FILE* f = fopen(s.c_str(), "rb")) {
        fseek(f, 0, SEEK_END);
        bytes += static_cast<uint64_t>(ftell(f));
        fclose(f);
      }
      unlink(s.c_str());
    }
    rmdir(o.dir.c_str());
    state.ResumeTiming();
  }
  const double lives = static_cast<double>(state.iterations()) * kPods;
  state.counters["CPU a pod"] = benchmark::Counter(lives, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  if (bytes > 0) state.counters["bytes a pod"] = static_cast<double>(bytes) / lives;
}
BENCHMARK(LifeOfAPod)->Arg(0)->Arg(1)->ArgName("recorded")->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::recording
