// Determines which pods would have to leave a node so that another pod fits.
#pragma once
#include <string>
#include <vector>

#include "pkg/explain/remedies.h"

namespace berth::explain {

// Returns the pods (as "namespace/name", sorted) whose removal would satisfy the remedies that cost Cost::kMove: pods
// that use the lacking resources, the host ports, or the topology domain of an anti-affinity term. For resources, it
// chooses pods of the lowest priority and as few of them as it can; pods of DaemonSets, which would be created again,
// come last. Returns an empty list if no choice of pods is enough.
std::vector<std::string> PodsToMove(const scheduler::Cache& cache, const api::Pod& pod, scheduler::Symbol node,
                                    const std::vector<Remedy>& remedies,
                                    const std::vector<scheduler::GenericScheduler::PredicateResult>& results);

}  // namespace berth::explain
