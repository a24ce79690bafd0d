// Rules that a Policy makes from services and node labels. Each function is the factory of one rule of Kubernetes 1.10;
// the rule is in the .cc file that bears its name.
#pragma once
#include <vector>

#include "pkg/scheduler/algorithm/domain_rule.h"

namespace berth::scheduler::serviceaffinity {

// Policy argument serviceAffinity: pods of one service go to nodes that agree in these labels.
FitPredicate ServiceAffinity(const PluginFactoryArgs&, std::vector<Symbol> labels);

// Policy argument serviceAntiAffinity: spreads a service's pods over the values of a node label.
PriorityFunction ServiceAntiAffinity(const PluginFactoryArgs&, Symbol label);

}  // namespace berth::scheduler::serviceaffinity
