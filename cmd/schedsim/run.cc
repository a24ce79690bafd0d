// The command run: places the pending pods of each Scenario, one after another, and writes every decision.
#include <time.h>

#include <chrono>
#include <iostream>

#include <absl/strings/str_cat.h>

#include "cmd/schedsim/command.h"
#include "cmd/schedsim/progress.h"
#include "cmd/schedsim/result.h"
#include "pkg/explain/output.h"
#include "pkg/lab/simulation.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

using lab::Scenario;
using lab::Simulation;

// Returns the CPU time of all threads, including those of extenders.
double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Decisions are handed to the writer in groups, so that reading the clocks and writing do not distort the measurement.
// No decision waits for longer than kLongestHeld.
constexpr size_t kMostHeld = 64;
constexpr std::chrono::milliseconds kLongestHeld{20};

// Decides pod after pod and hands the decisions to the writer, whose time does not count. The scenario gets the placed
// pods in the place of the pending ones, so that no pod is in memory twice. Returns in how many decisions the
// incremental and the reference scheduler differed, with DecisionMode::kBoth.
size_t Decide(Simulation& sim, Scenario& scenario, scheduler::DecisionMode mode, bool trace, const std::ostream& out,
              ResultWriter* writer, Stats* stats) {
  size_t differences = 0;
  using Clock = std::chrono::steady_clock;
  stats->nodes = sim.cache().node_count();
  stats->micros.reserve(scenario.pending.size());
  Progress progress("placing pods", scenario.pending.size());
  std::vector<Outcome> held;
  for (size_t next = 0; next < scenario.pending.size();) {
    if (!out) break;  // output has failed, which the caller reports
    held.clear();
    const double cpu = CpuSeconds();
    const auto start = Clock::now();
    auto before = start;
    bool more = true;
    while (more && next < scenario.pending.size()) {
      Outcome& o = held.emplace_back();
      api::PodPtr& pending = scenario.pending[next++];
      o.pod = pending;
      o.decision = sim.Place(o.pod, mode, trace ? &o.trace : nullptr);
      o.preemption = sim.Preempt(o.pod, o.decision);
      o.fields = sim.fields();
      if (o.placed()) pending = sim.last_placed();
      const auto now = Clock::now();
      stats->micros.push_back(std::chrono::duration<float, std::micro>(now - before).count());
      before = now;
      // Traces, and the reasons why a pod fits nowhere, are large, so they are not held.
      more = !trace && o.placed() && held.size() < kMostHeld && now - start < kLongestHeld;
    }
    stats->wall_seconds += std::chrono::duration<double>(before - start).count();
    stats->cpu_seconds += CpuSeconds() - cpu;
    for (const Outcome& o : held) {
      stats->scheduled += o.placed();
      ++stats->pods;
      if (!o.decision.difference.empty()) {
        ++differences;
        std::cerr << "schedsim: " << o.pod->meta.Key() << ": " << o.decision.difference << "\n";
      }
      writer->Take(o);
      progress.Step();
    }
  }
  return differences;
}

// --check-decisions decides both ways. Only the reference scheduler makes traces.
scheduler::DecisionMode ModeOf(const Invocation& options, bool trace) {
  if (options.Get<bool>("check-decisions")) return scheduler::DecisionMode::kBoth;
  return trace ? scheduler::DecisionMode::kReference : scheduler::DecisionMode::kIncremental;
}

// Keeps the object until the process ends, which is soon, because freeing millions of small objects takes long.
void KeepUntilExit(std::shared_ptr<const void> object) {
  static auto& kept = *new std::vector<std::shared_ptr<const void>>;
  kept.push_back(std::move(object));
}

int Run(const Invocation& options, std::ostream& out) {
  int exit_status = kExitOk;
  std::unique_ptr<lab::Input> input = ReadOrComplain(options, &exit_status);
  if (input == nullptr) return exit_status;
  WriterOptions how;
  how.format = options.output;
  how.detail = *ParseDetail(options.Get<std::string>("detail"));
  how.several = input->scenarios.size() > 1;
  how.screen = explain::ScreenOfStdout();
  how.list = !how.screen.terminal || options.Get<bool>("all");
  const bool trace = how.detail.needs_trace() && (how.format == "json" || how.format == "jsonl");
  std::unique_ptr<ResultWriter> writer = MakeWriter(how, out);
  size_t pending = 0, decided = 0, differences = 0;
  for (Scenario& scenario : input->scenarios) {
    std::string error = scenario.error;
    std::unique_ptr<Simulation> sim;
    if (error.empty()) {
      auto made = Simulation::Make(scenario);
      if (made.ok()) {
        sim = std::move(*made);
      } else {
        error = util::Message(made.status());
      }
    }
    if (sim == nullptr) {
      exit_status = kExitBadInput;
      writer->Error(scenario, error);
      std::cerr << "schedsim: " << (scenario.name.empty() ? "" : scenario.name + ": ") << error << "\n";
      continue;
    }
    Stats stats;
    writer->Begin(scenario);
    differences += Decide(*sim, scenario, ModeOf(options, trace), trace, out, writer.get(), &stats);
    decided += stats.pods;
    writer->End(*sim);
    if (options.Get<bool>("stats")) std::cerr << stats.Json();
    pending += stats.pods - stats.scheduled;
    if (&scenario == &input->scenarios.back()) KeepUntilExit(std::move(sim));
  }
  KeepUntilExit(std::move(input));
  if (options.Get<bool>("check-decisions")) {
    std::cerr << "schedsim: " << explain::Counted(static_cast<int64_t>(decided), "decision") << " made both ways, "
              << (differences == 0 ? "all alike" : absl::StrCat(differences, " of them differ")) << "\n";
    if (differences > 0) return kExitDifference;
  }
  if (exit_status == kExitOk && pending > 0 && options.Get<bool>("fail-on-pending")) return kExitPending;
  return exit_status;
}

absl::Status CheckRun(const Invocation& options) {
  return ParseDetail(options.Get<std::string>("detail")).status();
}

constexpr char kRunExamples[] =
    R"(  kubectl get nodes,pods -A -o json | schedsim run -          where would the pending pods go now
  schedsim run nodes.yaml apps.yaml -o summary               do all replicas of these workloads fit
  schedsim run cluster.json new.yaml --fail-on-pending       for scripts: exit status 3 when a pod stays pending
  schedsim run trace.json.gz -o json --detail top=3          the three best nodes of each decision
)";

void AddRunFlags(flags::FlagSet& add) {
  add("preempt", po::bool_switch(), "report the preemption that would follow (needs PodPriority=true)");
  add("all", po::bool_switch(), "with -o table: list every pod, on a terminal, too");
  add("detail", Takes("HOW")->default_value("all"),
      "with -o json and jsonl: none, pending (failed nodes of pods that are not placed), top=N (and the scores of the "
      "N best nodes) or all");
  add("check-decisions", po::bool_switch(),
      "decide every pod twice, incrementally and by the reference scheduler; report differences, and exit with status "
      "1 if there are any");
  add("fail-on-pending", po::bool_switch(), "exit with status 3 when a pod is not placed");
  add("stats", po::bool_switch(), "print times and memory to standard error, one line of JSON per scenario");
}

}  // namespace

extern const Command kRunCommand = {
    .name = "run",
    .arguments = "[FILE|-]... [flags]",
    .summary = "place the pending pods, one after another",
    .outputs = "table wide summary placements csv jsonl json",
    .examples = kRunExamples,
    .files = Command::Files::kOrStandardInput,
    .groups = kAlgorithmFlags | kGateFlags | kInputFlags,
    .add_flags = AddRunFlags,
    .check = CheckRun,
    .run = Run,
};

}  // namespace berth::schedsim
