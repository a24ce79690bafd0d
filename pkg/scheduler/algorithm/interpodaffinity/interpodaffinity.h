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

// InterPodAffinity (1.29), Filter: required terms with namespace selectors; affinity holds where pods that match all
// terms are, and for the first pod of a group anywhere.
FitPredicate PodAffinityFilter(const PluginFactoryArgs&);

// InterPodAffinity (1.29), Score: preferred terms both ways, and required affinity of placed pods times hard_weight,
// between the smallest and the largest sum.
struct InterPodAffinityOptions {
  int64_t hard_weight = 1;  // 0..100
  bool ignore_preferred_terms_of_existing_pods = false;
};
PriorityFunction PodAffinityScore(const PluginFactoryArgs&, const InterPodAffinityOptions& options);

}  // namespace berth::scheduler::interpodaffinity
