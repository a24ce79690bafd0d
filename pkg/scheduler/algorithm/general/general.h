// A predicate that is made of others, and the priority that treats all nodes alike. Each function is the factory of one
// rule of Kubernetes 1.10; the rule is in the .cc file that bears its name.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::general {

// GeneralPredicates: PodFitsResources, HostName, PodFitsHostPorts and MatchNodeSelector; all are called and all reasons
// given.
FitPredicate GeneralPredicates(const PluginFactoryArgs&);

// EqualPriority: 1 for every node.
PriorityFunction Equal(const PluginFactoryArgs&);

}  // namespace berth::scheduler::general
