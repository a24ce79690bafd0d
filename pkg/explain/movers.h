// Determines which pods would have to leave a node so that another pod fits.
#pragma once
#include <string>
#include <vector>

#include "pkg/explain/remedies.h"

namespace berth::explain {

// Pods of a node.
struct Leaving {
  std::vector<api::PodPtr> moved;   // they would have to leave
  std::vector<api::PodPtr> ending;  // they are being deleted and leave by themselves
};

// Returns the pods whose removal would satisfy the remedies with Remedy::moves: pods that use the lacking resources,
// the host ports, or the topology domain of an anti-affinity term. For resources, it counts on pods that are being
// deleted; then it chooses pods of the lowest priority and as few of them as it can; pods of DaemonSets, which would be
// created again, come last. Returns no pods if no choice of them is enough.
Leaving PodsToMove(const scheduler::Cache& cache, const api::Pod& pod, scheduler::Symbol node,
                   const std::vector<Remedy>& remedies,
                   const std::vector<scheduler::GenericScheduler::PredicateResult>& results);

}  // namespace berth::explain
