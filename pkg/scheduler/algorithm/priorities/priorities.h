// The priority functions of Kubernetes 1.10, one .cc file each, named after the rule. Each function here is the
// priority's factory. Scores are 0..10 after reducing; integers divide toward zero, floating point is IEEE double
// without contraction and truncates (B-23, kept). Rules: 1.10's algorithm/priorities.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::priorities {

// SelectorSpreadPriority: fewer pods of the same services and controllers on the node, and (weighing 2/3) in its zone.
// ServiceSpreadingPriority, the 1.0 name, is the same (B-20, kept).
PriorityFunction SelectorSpread(const PluginFactoryArgs&);

// InterPodAffinityPriority: preferred pod affinity and anti-affinity, both ways, and required affinity of placed pods
// times hardPodAffinitySymmetricWeight.
PriorityFunction InterPodAffinity(const PluginFactoryArgs&);

// LeastRequestedPriority: the larger the free share of cpu and memory, the better.
PriorityFunction LeastRequested(const PluginFactoryArgs&);

// MostRequestedPriority: the larger the used share, the better (bin packing, cluster autoscaling).
PriorityFunction MostRequested(const PluginFactoryArgs&);

// BalancedResourceAllocation: cpu and memory are used to a similar share.
PriorityFunction BalancedResourceAllocation(const PluginFactoryArgs&);

// NodePreferAvoidPodsPriority: 0 where the node's preferAvoidPods annotation names the pod's RC or ReplicaSet, else 10.
PriorityFunction NodePreferAvoidPods(const PluginFactoryArgs&);

// NodeAffinityPriority: preferred node affinity terms by weight.
PriorityFunction NodeAffinity(const PluginFactoryArgs&);

// TaintTolerationPriority: fewer PreferNoSchedule taints that are not tolerated.
PriorityFunction TaintToleration(const PluginFactoryArgs&);

// ImageLocalityPriority: megabytes of the pod's images that the node already has, 23 MiB to 1000 MiB.
PriorityFunction ImageLocality(const PluginFactoryArgs&);

// EqualPriority: 1 for every node.
PriorityFunction Equal(const PluginFactoryArgs&);

// ResourceLimitsPriority (gate ResourceLimitsPriorityFunction): 1 where the pod's limits fit the node's size.
PriorityFunction ResourceLimits(const PluginFactoryArgs&);

// Policy argument serviceAntiAffinity: spreads a service's pods over the values of a node label.
PriorityFunction ServiceAntiAffinity(Symbol label);

// Policy argument labelPreference: 10 where the label is there (presence) or is not (not presence).
PriorityFunction LabelPreference(Symbol label, bool presence);

// Scales so that the largest raw score becomes 10; reversed: the largest becomes 0.
void NormalizeReduce(std::span<int64_t> scores, bool reverse);

}  // namespace berth::scheduler::priorities
