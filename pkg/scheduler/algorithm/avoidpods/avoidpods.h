// The rule about nodes that ask certain controllers to stay away. Each function is the factory of one rule of
// Kubernetes 1.10; the rule is in the .cc file that bears its name.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::avoidpods {

// NodePreferAvoidPodsPriority: 0 where the node's preferAvoidPods annotation names the pod's RC or ReplicaSet, else 10.
PriorityFunction NodePreferAvoidPods(const PluginFactoryArgs&);

}  // namespace berth::scheduler::avoidpods
