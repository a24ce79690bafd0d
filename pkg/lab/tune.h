// A search for Policies that serve one's own pods better than the default, and what each of them costs.
#pragma once
#include <absl/status/statusor.h>

#include <functional>
#include <string>
#include <vector>

#include "pkg/lab/experiment.h"

namespace berth::lab {

// What may be minimised.
enum class Objective {
  kPending,        // pods that are not placed
  kFragmentation,  // of the scarcest resource (Workload::Fragmentation)
  kNodes,          // nodes in use
  kSpread,         // Metrics::imbalance
};
// "pending", "fragmentation", "nodes", "spread".
const char* NameOf(Objective objective);
absl::StatusOr<Objective> ObjectiveNamed(std::string_view name);
double ValueOf(Objective objective, const Workload& workload, const Metrics& metrics);

struct TuneOptions {
  std::vector<Objective> objectives;  // at least one
  int64_t budget = 200;               // how many policies are tried on the training trace
  uint64_t seed = 1;
  double held_back = 0.25;  // share of the pods that the search does not see
  size_t most_shown = 12;   // lines of the front
};

struct Tuned {
  std::string name;    // "policy-1", ...; "default"
  std::string policy;  // a Policy file's text; of the default as of all others
  Metrics metrics;     // over all pods
  Metrics held_back;   // over pods that the search did not see, repeated to as many as there are in all
};

struct TuneResult {
  Tuned baseline;            // the default provider's priorities
  std::vector<Tuned> front;  // no other policy that was tried on all pods is at least as good in every objective and
                             // better in one; by the first objective, best first
  int64_t tried = 0;
};

// Searches weights of LeastRequested, MostRequested, BalancedResourceAllocation and SelectorSpread, and preferences for
// nodes with or without a label that splits the nodes; what pods ask for themselves (affinity, tolerations) keeps the
// default's weight. First known good policies, then random ones, then small changes of the best. With one objective
// the others count for the front too, so that no policy is shown without its price.
//
// The search sees a trace of the same length in which the pods held back are replaced by others. The best are then
// tried on all pods and on those held back. Deterministic for equal options and input, whatever the number of cores.
absl::StatusOr<TuneResult> Tune(const Scenario& scenario, const TuneOptions& options,
                                const std::function<void(size_t done, size_t of)>& step = {});

}  // namespace berth::lab
