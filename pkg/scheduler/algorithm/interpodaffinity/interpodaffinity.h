// Rules about pod affinity and pod anti-affinity. Each function is the factory of one rule of Kubernetes 1.10; the rule
// is in the .cc file that bears its name.
#pragma once
#include "pkg/scheduler/algorithm/domain_rule.h"

namespace berth::scheduler::interpodaffinity {

// MatchInterPodAffinity: required pod affinity and anti-affinity, both of the pod and of the pods already placed.
FitPredicate MatchInterPodAffinity(const PluginFactoryArgs&);

// InterPodAffinityPriority: preferred pod affinity and anti-affinity, both ways, and required affinity of placed pods
// times hardPodAffinitySymmetricWeight.
PriorityFunction InterPodAffinity(const PluginFactoryArgs&);

}  // namespace berth::scheduler::interpodaffinity
