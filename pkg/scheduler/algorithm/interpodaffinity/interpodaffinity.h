// Rules about pod affinity and pod anti-affinity. Each function is the factory of one rule, which is implemented in a
// .cc file of this folder.
#pragma once
#include "pkg/scheduler/algorithm/domain_rule.h"
#include "pkg/scheduler/queue/cluster_event.h"

namespace berth::scheduler::interpodaffinity {

// MatchInterPodAffinity (1.10): the required pod affinity and anti-affinity of the pod, and the required anti-affinity
// of placed pods.
FitPredicate MatchInterPodAffinity(const PluginFactoryArgs&);

// The same before 1.10: terms by host name are like others, so that pods on any node count as the group that exists
// (bug B-09 is not there yet). Without `bad_terms_are_errors`, a term that cannot be used fits nowhere (1.8).
FitPredicate MatchInterPodAffinityAnywhere(const PluginFactoryArgs&, bool bad_terms_are_errors);

// MatchInterPodAffinity from 1.12 on: several required affinity terms must be met by pods that match all of them. If no
// such pod is in any domain of the terms, a pod that matches its own terms fits every node.
FitPredicate MatchInterPodAffinityTogether(const PluginFactoryArgs&);

// InterPodAffinityPriority (1.10): the preferred pod affinity and anti-affinity of the pod and of placed pods, and the
// required affinity of placed pods with the weight hardPodAffinitySymmetricWeight.
PriorityFunction InterPodAffinity(const PluginFactoryArgs&);

// InterPodAffinity (1.19 and 1.29), Filter: required terms, which may have namespace selectors. Affinity is satisfied
// in a domain that has pods matching all terms. If no such pod exists anywhere, a pod that matches its own terms fits
// every node that has the topology labels.
struct AffinityFilterOptions {
  // Whether the rule is left out for a pod that no term concerns when its scheduling begins (1.29).
  bool skips_pods = true;
  // Whether each reason comes after the general one: node(s) didn't match pod affinity/anti-affinity (1.19).
  bool gives_general_reason = false;
};
FitPredicate PodAffinityFilter(const PluginFactoryArgs&);
FitPredicate PodAffinityFilterBy(const PluginFactoryArgs&, const AffinityFilterOptions& options);

// The hint of InterPodAffinity (1.36), by the required terms of the pod: a pod with a node or a nomination came to
// match all affinity terms, ceased to match all anti-affinity terms, or is gone and matched these or had anti-affinity
// terms that all match the pod; a label that an affinity term names appeared on a node or changed, or one of an
// anti-affinity term vanished or changed; a new node has a label that an affinity term names, or there are
// anti-affinity terms; the pod's own labels changed.
bool AffinityMadePossible(const api::Pod& pod, const ClusterEvent& e);

// InterPodAffinity (1.19 and 1.29), Score: the preferred terms of the pod and of placed pods, and the required affinity
// of placed pods with the weight hard_weight. Scores are scaled between the smallest and the largest sum.
struct InterPodAffinityOptions {
  int64_t hard_weight = 1;  // 0..100
  bool ignore_preferred_terms_of_existing_pods = false;
  bool scale_has_zero = false;  // whether the scale begins at 0 or below and ends at 0 or above (1.19)
};
PriorityFunction PodAffinityScore(const PluginFactoryArgs&, const InterPodAffinityOptions& options);

}  // namespace berth::scheduler::interpodaffinity
