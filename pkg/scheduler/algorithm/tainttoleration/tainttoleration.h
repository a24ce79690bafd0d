// Rules about taints and tolerations. Each function is the factory of one rule of Kubernetes 1.10; the rule is
// in the .cc file that bears its name.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::tainttoleration {

// PodToleratesNodeTaints: every NoSchedule and NoExecute taint is tolerated.
FitPredicate PodToleratesNodeTaints(const PluginFactoryArgs&);

// TaintTolerationPriority: fewer PreferNoSchedule taints that are not tolerated.
PriorityFunction TaintToleration(const PluginFactoryArgs&);

// Returns whether the toleration covers the taint.
bool Tolerates(const api::Toleration& toleration, const api::Taint& taint);

}  // namespace berth::scheduler::tainttoleration
