// The same pods placed by different algorithms, and how the results differ.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "pkg/lab/metrics.h"
#include "pkg/lab/simulation.h"

namespace berth::lab {

// One algorithm that takes part.
struct Variant {
  std::string name;
  Algorithm algorithm;
};

// The state after some of the pods have arrived. All three are shares of what the nodes offer of the scarcest resource
// (fragmentation: of what is free of it).
struct Sample {
  double arrived = 0, allocation = 0, fragmentation = 0;
};

struct TrialOptions {
  bool compaction = false;   // measure it
  bool preemptions = false;  // count them (needs gate PodPriority)
  size_t samples = 0;        // how many states to take down along the way; 0: none
};

struct Trial {
  std::string error;  // not empty: the algorithm cannot be built, and why
  Metrics metrics;
  std::vector<scheduler::Symbol> hosts;  // by pending pod; empty when it is not placed
  std::vector<std::string> reasons;      // by pending pod; of those not placed, the reason that most nodes gave
  std::vector<Sample> samples;
};

// Places the pending pods of the scenario in order. Deterministic.
// Threading: several trials over one scenario and workload may run at once.
Trial RunTrial(const Scenario& scenario, const Workload& workload, const Algorithm& algorithm,
               const TrialOptions& options);

// Calls work(0) .. work(n - 1) on as many threads as there are cores. `step` is called on the calling thread, now and
// then, with how many are done; it may be null.
void RunOnAllCores(size_t n, const std::function<void(size_t)>& work, const std::function<void(size_t)>& step = {});

}  // namespace berth::lab
