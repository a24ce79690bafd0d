// Searches for Policies that serve the given pods better than the default, and shows the cost of each.
#pragma once
#include <absl/status/statusor.h>

#include <functional>
#include <string>
#include <vector>

#include "pkg/lab/experiment.h"

namespace berth::lab {

// What can be minimised.
enum class Objective {
  kPending,        // the number of pods that are not placed
  kFragmentation,  // of the scarcest resource (Workload::Fragmentation)
  kNodes,          // the number of nodes in use
  kSpread,         // Metrics::imbalance
};
// Convert between objectives and their names: "pending", "fragmentation", "nodes", "spread".
const char* NameOf(Objective objective);
absl::StatusOr<Objective> ObjectiveNamed(std::string_view name);
// Returns the value of the objective for these metrics; smaller is better.
double ValueOf(Objective objective, const Workload& workload, const Metrics& metrics);

struct TuneOptions {
  std::vector<Objective> objectives;  // at least one
  int64_t budget = 200;               // how many policies are tried on the training trace
  uint64_t seed = 1;
  double held_back = 0.25;  // the fraction of the pods that the search does not see, 0 to 1
  size_t most_shown = 12;   // how many policies of the front are returned at most
};

// A policy and its results.
struct Tuned {
  std::string name;    // "policy-1", "policy-2" and so on, or "default"
  std::string policy;  // the text of a Policy file
  Metrics metrics;     // over all pods
  Metrics held_back;   // over the pods that the search did not see, repeated up to the number of all pods
};

struct TuneResult {
  Tuned baseline;  // the priorities of the default provider
  // The Pareto front of the policies that were tried on all pods: no other one is at least as good in every objective
  // and better in one. Sorted by the first objective, best first.
  std::vector<Tuned> front;
  int64_t tried = 0;
};

// Searches the weights of LeastRequested, MostRequested, BalancedResourceAllocation and SelectorSpread, and preferences
// for nodes with or without a label that only some nodes have. Priorities for what pods request themselves (affinity,
// tolerations) keep their default weights. The search tries policies that have proved good elsewhere, then random ones,
// then small changes of the best. With a single objective, the others also count for the front, so that no policy is
// shown without its cost.
//
// The search uses a trace of the same length, in which other pods replace those that are held back. The best policies
// are then tried on all pods and on the pods held back. The result depends on the options and the input alone, not on
// the number of cores.
absl::StatusOr<TuneResult> Tune(const Scenario& scenario, const TuneOptions& options,
                                const std::function<void(size_t done, size_t of)>& step = {});

}  // namespace berth::lab
