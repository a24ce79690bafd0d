// Rules that a Policy creates from services and node labels. Each function is the factory of one rule of Kubernetes
// 1.10, which is implemented in a .cc file of this folder.
#pragma once
#include <vector>

#include "pkg/scheduler/algorithm/domain_rule.h"

namespace berth::scheduler::serviceaffinity {

// The Policy argument serviceAffinity: the pods of a service run on nodes that have the same values of these labels.
FitPredicate ServiceAffinity(const PluginFactoryArgs&, std::vector<Symbol> labels);

// The Policy argument serviceAntiAffinity: spreads the pods of a service over the values of a node label.
PriorityFunction ServiceAntiAffinity(const PluginFactoryArgs&, Symbol label);
// The same from 1.12 on: terminating pods do not count.
PriorityFunction ServiceAntiAffinityOfLivePods(const PluginFactoryArgs&, Symbol label);

}  // namespace berth::scheduler::serviceaffinity
