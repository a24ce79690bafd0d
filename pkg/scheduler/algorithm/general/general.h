// A predicate that is composed of others, and the priority that treats all nodes alike. Each function is the factory of
// one rule of Kubernetes 1.10, which is implemented in a .cc file of this folder.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::general {

// GeneralPredicates: PodFitsResources, HostName, PodFitsHostPorts and MatchNodeSelector. All four are always evaluated,
// and the reasons of all are reported.
FitPredicate GeneralPredicates(const PluginFactoryArgs&);

// The same with host ports by number (1.8).
FitPredicate GeneralPredicatesByPortNumber(const PluginFactoryArgs&);

// The same with MatchNodeSelector as it is from 1.11 on (MatchNodeSelectorWithFields).
FitPredicate GeneralPredicatesWithFields(const PluginFactoryArgs&);

// EqualPriority: 1 for every node.
PriorityFunction Equal(const PluginFactoryArgs&);

}  // namespace berth::scheduler::general
