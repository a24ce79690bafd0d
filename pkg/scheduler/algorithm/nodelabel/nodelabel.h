// Rules that a Policy makes from labels that nodes have or lack. Each function is the factory of one rule of
// Kubernetes 1.10; the rule is in the .cc file that bears its name.
#pragma once
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::nodelabel {

// Policy argument labelsPresence: every label is on the node (presence) or none is (not presence).
FitPredicate NodeLabelPresence(std::vector<Symbol> labels, bool presence);

// Policy argument labelPreference: 10 where the label is there (presence) or is not (not presence).
PriorityFunction LabelPreference(const PluginFactoryArgs&, Symbol label, bool presence);

}  // namespace berth::scheduler::nodelabel
