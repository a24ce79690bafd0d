// churn: decides the pods of a Scenario in a cluster that changes between the decisions, and measures each decision by
// the CPU time of its thread, which is the same on a busy machine.
#include <absl/strings/numbers.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <ctime>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "pkg/heap/heap.h"
#include "pkg/util/peak_memory.h"
#include "pkg/util/status.h"
#include "test/churn/cluster_changes.h"
#include "test/churn/day.h"

namespace berth::churn {
namespace {

constexpr const char* kUsage =
    R"(usage: churn decide FILE [changes=N] [seed=N] [check=1] [percentage=N|release]
       churn day [nodes=N] [pods=N] [templates=N] [live=N] [kept=MIB] [release=NAME] [seed=N]

decide: decides the pending pods of the Scenario in FILE. Before each decision the cluster changes N times (0). With
  check=1 each decision is also made by the reference scheduler and compared.
day: pods of many templates come, are decided and end while nodes change, and the resident memory is printed on the way.
  It settles when all that is bounded is full: kept answers (kept=MIB limits them) and texts of objects that are gone.
The last line is JSON. Exit status: 0; 1 when decisions differ, or when memory grew by more than 5 %; 2 for bad input.
)";

using Options = std::map<std::string, std::string>;

double Seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

uint64_t Number(const Options& options, const std::string& name, uint64_t otherwise) {
  const auto given = options.find(name);
  uint64_t value = otherwise;
  if (given != options.end() && !absl::SimpleAtoi(given->second, &value)) {
    std::cerr << "churn: " << name << "=" << given->second << " is not a whole number\n";
    std::exit(2);
  }
  return value;
}

double Quantile(const std::vector<double>& sorted, double q) {
  return sorted.empty()
             ? 0
             : sorted[std::min(sorted.size() - 1, static_cast<size_t>(q * static_cast<double>(sorted.size())))];
}

// What is measured of the decisions.
struct Measured {
  size_t scheduled = 0, differences = 0;
  double cpu_seconds = 0;
  std::vector<double> micros;
};

Measured DecideAll(lab::Simulation* simulation, const std::vector<api::PodPtr>& pending, const Options& options) {
  ClusterChanges changes(simulation, Number(options, "seed", 1));
  const uint64_t before_each = Number(options, "changes", 0);
  const auto mode =
      Number(options, "check", 0) != 0 ? scheduler::DecisionMode::kBoth : scheduler::DecisionMode::kIncremental;
  Measured out;
  out.micros.reserve(pending.size());
  for (const api::PodPtr& pod : pending) {
    for (uint64_t i = 0; i < before_each; ++i) changes.MakeOne();
    const double start = Seconds(CLOCK_THREAD_CPUTIME_ID);
    const scheduler::Decision decision = simulation->Place(pod, mode, nullptr);
    out.micros.push_back(1e6 * (Seconds(CLOCK_THREAD_CPUTIME_ID) - start));
    out.cpu_seconds += out.micros.back() / 1e6;
    if (!decision.difference.empty()) {
      ++out.differences;
      std::cerr << "churn: " << pod->meta.Key() << ": " << decision.difference << "\n";
    }
    if (decision.outcome != scheduler::Decision::Outcome::kPlaced) continue;
    ++out.scheduled;
    if (before_each > 0) changes.Bound(simulation->last_placed());
  }
  return out;
}

int Decide(const std::string& file, const Options& options) {
  lab::ReadOptions how;
  if (const auto p = options.find("percentage"); p != options.end()) {
    if (p->second == "release") {
      how.defaults.samples_as_release = true;
    } else {
      how.defaults.percentage_of_nodes_to_score = static_cast<int64_t>(Number(options, "percentage", 100));
    }
  }
  absl::StatusOr<lab::Input> input = lab::ReadInputs({file}, how);
  if (!input.ok() || input->scenarios.size() != 1 || !input->scenarios[0].error.empty()) {
    std::cerr << "churn: " << file << ": "
              << (!input.ok()                ? util::Message(input.status())
                  : input->scenarios.empty() ? "no Scenario"
                                             : input->scenarios[0].error)
              << "\n";
    return 2;
  }
  const lab::Scenario& scenario = input->scenarios[0];
  auto simulation = lab::Simulation::Make(scenario);
  if (!simulation.ok()) {
    std::cerr << "churn: " << util::Message(simulation.status()) << "\n";
    return 2;
  }
  const size_t nodes = (*simulation)->cache().node_count();
  Measured m = DecideAll(simulation->get(), scenario.pending, options);
  std::sort(m.micros.begin(), m.micros.end());
  std::cout << absl::StrFormat(
      "{\"nodes\":%d,\"pods\":%d,\"scheduled\":%d,\"cpuSeconds\":%.6f,\"p50Micros\":%.3f,\"p99Micros\":%.3f,"
      "\"peakRSSBytes\":%d,\"differences\":%d}\n",
      nodes, m.micros.size(), m.scheduled, m.cpu_seconds, Quantile(m.micros, 0.50), Quantile(m.micros, 0.99),
      util::PeakMemoryBytes(), m.differences);
  std::cout.flush();
  std::_Exit(m.differences > 0 ? 1 : 0);  // freeing millions of objects takes long
}

int Day(const Options& options) {
  DayOptions day;
  day.nodes = Number(options, "nodes", day.nodes);
  day.pods = Number(options, "pods", day.pods);
  day.templates = Number(options, "templates", day.templates);
  day.live = Number(options, "live", day.live);
  day.seed = Number(options, "seed", day.seed);
  day.kept_mib = Number(options, "kept", day.kept_mib);
  if (const auto r = options.find("release"); r != options.end()) day.release = r->second;
  return RunDay(day, std::cout);
}

int Main(int argc, char** argv) {
  std::vector<std::string> plain;
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      plain.push_back(word);
    } else {
      options[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  if (plain.size() == 2 && plain[0] == "decide") return Decide(plain[1], options);
  if (plain.size() == 1 && plain[0] == "day") return Day(options);
  std::cerr << kUsage;
  return 2;
}

}  // namespace
}  // namespace berth::churn

int main(int argc, char** argv) {
  berth::heap::UseHugePages();
  return berth::churn::Main(argc, argv);
}
