// Rules about taints and tolerations. Each function is the factory of one rule of Kubernetes 1.10; the rule is
// in the .cc file that bears its name.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::tainttoleration {

// PodToleratesNodeTaints: every NoSchedule and NoExecute taint is tolerated.
// TaintToleration of release 1.29: the same, and the reason names the first taint that is not tolerated.
FitPredicate UntoleratedTaints(const PluginFactoryArgs&);
FitPredicate PodToleratesNodeTaints(const PluginFactoryArgs&);

// CheckNodeUnschedulable (Kubernetes 1.11 to 1.22): the node is not cordoned, or the pod tolerates the taint
// node.kubernetes.io/unschedulable:NoSchedule.
FitPredicate CheckNodeUnschedulable(const PluginFactoryArgs&);

// TaintTolerationPriority: fewer PreferNoSchedule taints that are not tolerated.
PriorityFunction TaintToleration(const PluginFactoryArgs&);

// Returns whether the toleration covers the taint.
bool Tolerates(const api::Toleration& toleration, const api::Taint& taint);

// Returns whether the pod tolerates every NoSchedule and NoExecute taint of the node.
bool ToleratesAll(const api::PodTemplate& pod, const api::Node& node);

// NodeUnschedulable (1.29): the node is not cordoned, or the pod tolerates that.
FitPredicate NodeUnschedulable(const PluginFactoryArgs&);

}  // namespace berth::scheduler::tainttoleration
