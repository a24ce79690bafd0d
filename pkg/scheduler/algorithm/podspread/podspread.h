// Rules that spread the pods of one service or controller. Each function is the factory of one rule of Kubernetes 1.10;
// the rule is in the .cc file that bears its name.
#pragma once
#include "pkg/scheduler/algorithm/domain_rule.h"

namespace berth::scheduler::podspread {

// SelectorSpreadPriority: fewer pods of the same services and controllers on the node, and (weighing 2/3) in its zone.
// ServiceSpreadingPriority, the 1.0 name, is the same (B-20, kept).
PriorityFunction SelectorSpread(const PluginFactoryArgs&);

}  // namespace berth::scheduler::podspread
