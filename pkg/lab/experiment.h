// Places the same pods with different algorithms, to compare the results.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "pkg/lab/metrics.h"
#include "pkg/lab/simulation.h"

namespace berth::lab {

// An algorithm that takes part in a comparison.
struct Variant {
  std::string name;
  Algorithm algorithm;
};

// The state after some of the pods have arrived. All values are shares of the scarcest resource: `arrived` and
// `allocation` of what all nodes offer, `fragmentation` of what is free. `arrived` may exceed 1.
struct Sample {
  double arrived = 0, allocation = 0, fragmentation = 0;
};

// What to measure in addition to the usual metrics.
struct TrialOptions {
  bool compaction = false;   // whether to compute Metrics::compaction
  bool preemptions = false;  // whether to count preemptions, which needs the gate PodPriority
  size_t samples = 0;        // how many Samples to take; 0 for none
};

// The result of RunTrial.
struct Trial {
  std::string error;  // if not empty, why the algorithm cannot be built
  Metrics metrics;
  std::vector<scheduler::Symbol> hosts;  // by pending pod; empty if it is not placed
  std::vector<std::string> reasons;      // by pending pod, for those not placed: the reason of most nodes
  std::vector<Sample> samples;
};

// Places the pending pods of the scenario in order. The result depends on the arguments alone. Thread-safety: several
// trials may run at the same time on the same scenario and workload.
Trial RunTrial(const Scenario& scenario, const Workload& workload, const Algorithm& algorithm,
               const TrialOptions& options);

// Returns the reason that decided (scheduler::DecisiveReason). Without failures of nodes, the error of the decision.
std::string MainReason(const scheduler::Decision& d);

// Calls work(0) to work(n - 1) on as many threads as there are cores. Now and then calls `step`, which may be null, on
// the calling thread with the number of completed calls. `work` must be thread-safe.
void RunOnAllCores(size_t n, const std::function<void(size_t)>& work, const std::function<void(size_t)>& step = {});

}  // namespace berth::lab
