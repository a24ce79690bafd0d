// Rules that a Policy or a profile creates from labels that nodes have or lack. Each function is the factory of one
// rule, which is implemented in a .cc file of this folder.
#pragma once
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::nodelabel {

// The Policy argument labelsPresence (1.10): the node has all of the labels (presence) or none of them (not presence).
FitPredicate NodeLabelPresence(std::vector<Symbol> labels, bool presence);

// The Policy argument labelPreference (1.10): the highest score if the node has the label (presence) or lacks it (not
// presence), otherwise 0.
PriorityFunction LabelPreference(const PluginFactoryArgs&, Symbol label, bool presence);

// The Filter of NodeLabel (1.19): the node has all labels of `present` and none of `absent`.
FitPredicate NodeLabels(const PluginFactoryArgs&, std::vector<Symbol> present, std::vector<Symbol> absent);

// The Score of NodeLabel (1.19): the part of the preferences that the node meets, that is labels of `present` that it
// has and labels of `absent` that it lacks.
PriorityFunction NodeLabelsPreference(const PluginFactoryArgs&, std::vector<Symbol> present,
                                      std::vector<Symbol> absent);

}  // namespace berth::scheduler::nodelabel
