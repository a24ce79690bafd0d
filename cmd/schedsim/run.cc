#include <sys/resource.h>

#include <chrono>
#include <iostream>

#include <absl/strings/str_cat.h>

#include "cmd/schedsim/command.h"
#include "cmd/schedsim/result.h"
#include "pkg/lab/simulation.h"
#include "pkg/util/status.h"

namespace berth::schedsim {
namespace {

using lab::Scenario;
using lab::Simulation;

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::vector<Outcome> Decide(Simulation& sim, const Scenario& scenario, bool trace, Stats* stats) {
  using Clock = std::chrono::steady_clock;
  std::vector<Outcome> outcomes(scenario.pending.size());
  stats->nodes = sim.cache().node_count();
  stats->pods = scenario.pending.size();
  stats->micros.reserve(scenario.pending.size());
  double cpu = CpuSeconds();
  auto start = Clock::now(), before = start;
  for (size_t i = 0; i < scenario.pending.size(); ++i) {
    Outcome& o = outcomes[i];
    o.pod = scenario.pending[i];
    o.decision = sim.Place(o.pod, trace ? &o.trace : nullptr);
    if (sim.preempts() && o.decision.outcome == scheduler::Decision::Outcome::kUnfit) {
      o.preemption_tried = true;
      o.preemption = sim.scheduler().Preempt(o.pod, *o.decision.failures);
    }
    if (!trace) o.decision.failures.reset();
    auto now = Clock::now();
    stats->micros.push_back(std::chrono::duration<double, std::micro>(now - before).count());
    stats->scheduled += o.decision.outcome == scheduler::Decision::Outcome::kPlaced;
    before = now;
  }
  stats->wall_seconds = std::chrono::duration<double>(before - start).count();
  stats->cpu_seconds = CpuSeconds() - cpu;
  return outcomes;
}

int Run(const Invocation& options, std::ostream& out) {
  int exit_status = kExitOk;
  std::unique_ptr<lab::Input> input = ReadOrComplain(options, &exit_status);
  if (input == nullptr) return exit_status;
  bool several = input->scenarios.size() > 1;
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
    if (options.output == "placements" && several) out << "# " << scenario.name << "\n";
    if (sim == nullptr) {
      exit_status = kExitBadInput;
      if (options.output == "json" && scenario.is_scenario) out << ErrorJson(scenario.name, error);
      std::cerr << "schedsim: " << (scenario.name.empty() ? "" : scenario.name + ": ") << error << "\n";
      continue;
    }
    Stats stats;
    std::vector<Outcome> outcomes = Decide(*sim, scenario, options.output == "json", &stats);
    if (options.output == "json") {
      out << ResultJson(scenario.name, outcomes);
    } else {
      out << (options.output == "placements" ? Placements(outcomes) : ResultTable(scenario.name, outcomes));
    }
    if (options.Get<bool>("stats")) std::cerr << stats.Json();
  }
  return exit_status;
}

void AddFlags(boost::program_options::options_description_easy_init& add) {
  namespace po = boost::program_options;
  add("preempt", po::bool_switch(), "report the preemption that would follow (needs PodPriority=true)");
  add("stats", po::bool_switch(), "print times and memory to standard error, one JSON line a scenario");
}

}  // namespace

extern const Command kRunCommand = {
    .name = "run",
    .arguments = "[FILE|-]... [flags]",
    .summary = "place the pending pods, one after another",
    .outputs = "table json placements",
    .files = Command::Files::kOrStandardInput,
    .groups = kAlgorithmFlags | kGateFlags,
    .add_flags = AddFlags,
    .run = Run,
};

}  // namespace berth::schedsim
