// Which pods would have to leave a node so that another one fits.
#pragma once
#include <string>
#include <vector>

#include "pkg/explain/remedies.h"

namespace berth::explain {

// Returns the pods (by "namespace/name", sorted) whose leaving would undo those remedies that cost Cost::kMove: pods
// that use the resources that run short, the host ports, or the topology domain of an anti-affinity. Of pods that could
// leave for a resource it chooses those of the lowest priority and as few as it can; pods of DaemonSets, which would
// come back, are chosen last. Empty when no choice of pods is enough.
std::vector<std::string> PodsToMove(const scheduler::Cache& cache, const api::Pod& pod, scheduler::Symbol node,
                                    const std::vector<Remedy>& remedies,
                                    const std::vector<scheduler::GenericScheduler::PredicateResult>& results);

}  // namespace berth::explain
