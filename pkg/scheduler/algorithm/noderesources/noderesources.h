// Rules about what pods request and what nodes have to give. Each function is the factory of one rule of
// Kubernetes 1.10; the rule is in the .cc file that bears its name.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::noderesources {

// PodFitsResources: requests fit into what is allocatable and not yet requested; one more pod is allowed. A pod that
// requests nothing is checked for the number of pods only.
FitPredicate PodFitsResources(const PluginFactoryArgs&);

// LeastRequestedPriority: the larger the free share of cpu and memory, the better.
PriorityFunction LeastRequested(const PluginFactoryArgs&);

// MostRequestedPriority: the larger the used share, the better (bin packing, cluster autoscaling).
PriorityFunction MostRequested(const PluginFactoryArgs&);

// BalancedResourceAllocation: cpu and memory are used to a similar share.
PriorityFunction BalancedResourceAllocation(const PluginFactoryArgs&);

// ResourceLimitsPriority (gate ResourceLimitsPriorityFunction): 1 where the pod's limits fit the node's size.
PriorityFunction ResourceLimits(const PluginFactoryArgs&);

}  // namespace berth::scheduler::noderesources
