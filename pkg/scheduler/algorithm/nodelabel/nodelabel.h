// Rules that a Policy creates from labels that nodes have or lack. Each function is the factory of one rule of
// Kubernetes 1.10, which is implemented in a .cc file of this folder.
#pragma once
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::nodelabel {

// The Policy argument labelsPresence: the node has all of the labels (presence) or none of them (not presence).
FitPredicate NodeLabelPresence(std::vector<Symbol> labels, bool presence);

// The Policy argument labelPreference: the highest score if the node has the label (presence) or lacks it (not
// presence), otherwise 0.
PriorityFunction LabelPreference(const PluginFactoryArgs&, Symbol label, bool presence);

}  // namespace berth::scheduler::nodelabel
