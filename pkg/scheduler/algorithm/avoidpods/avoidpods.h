// The rule about nodes whose preferAvoidPods annotation names controllers whose pods should run elsewhere. Each
// function is the factory of one rule of Kubernetes 1.10, which is implemented in the .cc file of the same name.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::avoidpods {

// NodePreferAvoidPodsPriority: 0 on nodes whose preferAvoidPods annotation names the pod's ReplicationController or
// ReplicaSet, otherwise the highest score.
PriorityFunction NodePreferAvoidPods(const PluginFactoryArgs&);

}  // namespace berth::scheduler::avoidpods
