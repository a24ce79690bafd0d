// What a rule reads and how its scores are normalised. A rule declares both once, when it is registered under its name.
//
// The incremental scheduler (core/incremental) derives all of its caching from these declarations: which pods are
// equivalent for a set of rules, how long a cached answer stays valid, and which changes invalidate it. A rule without
// traits is still evaluated exactly: it is called for every candidate node of every pod, while the answers of all other
// rules stay cached.
//
// A declaration that leaves out something that the rule reads leads to wrong placements. testing/traits_check.h detects
// this: it changes every part that a rule has not declared and requires that the answers stay the same.
#pragma once
#include <cstdint>

namespace berth::scheduler {

// Parts of a pod, as bits. template_parts.h says which fields belong to each part.
enum PodPart : uint32_t {
  kPodNothing = 0,
  kPodNamespace = 1u << 0,
  kPodLabels = 1u << 1,
  kPodController = 1u << 2,  // the owner reference with controller: true
  kPodRequests = 1u << 3,    // every requested amount, both with and without the defaults for missing requests
  kPodLimits = 1u << 4,      // the limits of the containers
  kPodQos = 1u << 5,         // whether the pod is best-effort
  kPodHostPorts = 1u << 6,
  kPodNodeSelector = 1u << 7,  // nodeSelector and node affinity
  kPodTolerations = 1u << 8,
  kPodAffinity = 1u << 9,  // podAffinity and podAntiAffinity
  kPodSpread = 1u << 10,   // topologySpreadConstraints
  kPodVolumes = 1u << 11,
  kPodImages = 1u << 12,    // the images of all containers, and of volumes
  kPodPriority = 1u << 13,  // spec.priority and preemptionPolicy
  kPodSchedulerName = 1u << 14,
  kPodContainers = 1u << 15,  // the containers and the overhead as the specification lists them
  kPodGates = 1u << 16,       // schedulingGates
  kPodFeatures = 1u << 17,    // the features that a node must declare
  // Everything in which two pods of one template may differ: name, uid, nodeName, annotations and status.
  kPodIdentity = 1u << 18,
  kPodTemplate = kPodIdentity - 1,  // everything that pods of one template share
  kPodAnything = ~uint32_t{0},
};

// What the answer of a rule for a node depends on, apart from the pod. kNodePods includes what kNode stands for.
enum class ClusterPart : uint8_t {
  kNode,      // the node object alone
  kNodes,     // the node object and other node objects: a change of any node invalidates every answer
  kNodePods,  // the node object and the pods on that node
  kDomains,   // numbers of pods in topology domains: the rule implements DomainCheck or DomainScoring (domain_rule.h)
  // For predicates only: the volumes of the pod with their claims and storage classes, the node, and the volumes in use
  // on the node. The rule must fit every node if the pod has no volumes.
  kVolumes,
  kAnything,  // not declared
};

// How the raw scores of a priority are converted to scores from 0 to the highest score of the release.
enum class Normalisation : uint8_t {
  kNone,              // Map already returns final scores
  kMaximum,           // highest score * raw / largest raw score
  kMaximumReversed,   // the highest score minus the result of kMaximum
  kFractionReversed,  // (1 - raw / largest raw score) * highest score, in floating point and truncated (1.8)
  kDomains,           // by DomainScoring::Score
  kOwn,               // by Reduce alone, which sees the raw scores of all feasible nodes
};

// The declaration of one rule. The defaults declare nothing, which is always safe.
struct Traits {
  uint32_t pod = kPodAnything;  // PodPart bits that the rule reads
  ClusterPart cluster = ClusterPart::kAnything;
  Normalisation normalisation = Normalisation::kOwn;  // for priorities only

  // Returns whether answers of the rule can be cached between decisions.
  bool incremental() const {
    return cluster != ClusterPart::kAnything && (pod & kPodIdentity) == 0 &&
           (normalisation != Normalisation::kOwn || cluster == ClusterPart::kVolumes);
  }
};

// Build the traits of a predicate and of a priority for a registration.
constexpr Traits PredicateTraits(uint32_t pod, ClusterPart cluster) {
  return {pod, cluster, Normalisation::kNone};
}
constexpr Traits PriorityTraits(uint32_t pod, ClusterPart cluster, Normalisation normalisation) {
  return {pod, cluster, normalisation};
}

}  // namespace berth::scheduler
