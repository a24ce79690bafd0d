// Rules that a Policy or a profile creates from services and node labels. Each function is the factory of one rule,
// which is implemented in a .cc file of this folder.
#pragma once
#include <vector>

#include "pkg/scheduler/algorithm/domain_rule.h"

namespace berth::scheduler::serviceaffinity {

// The Policy argument serviceAffinity: the pods of a service run on nodes that have the same values of these labels.
FitPredicate ServiceAffinity(const PluginFactoryArgs&, std::vector<Symbol> labels);
// The Filter of ServiceAffinity (1.19): the same rule with another pod of the service as the reference.
FitPredicate ServiceAffinityToFirstListed(const PluginFactoryArgs&, std::vector<Symbol> labels);

// The Policy argument serviceAntiAffinity: spreads the pods of a service over the values of a node label.
PriorityFunction ServiceAntiAffinity(const PluginFactoryArgs&, Symbol label);
// The same before 1.10: pods on nodes that do not fit count for the total, too.
PriorityFunction ServiceAntiAffinityOfAllPods(const PluginFactoryArgs&, Symbol label);
// The Score of ServiceAffinity (1.19): the same for several labels, whose parts of the score are added in floating
// point and truncated once. Terminating pods do not count.
PriorityFunction ServiceAntiAffinityByLabels(const PluginFactoryArgs&, std::vector<Symbol> labels);
// The same from 1.12 on: terminating pods do not count.
PriorityFunction ServiceAntiAffinityOfLivePods(const PluginFactoryArgs&, Symbol label);

}  // namespace berth::scheduler::serviceaffinity
