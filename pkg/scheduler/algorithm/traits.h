// What a rule reads and how its scores are normalised, declared once with its name when it is registered.
//
// The incremental scheduler (core/incremental) derives all of its caching from these declarations: which pods are
// equivalent for a set of rules, how long an answer stays valid, and which changes end it. A rule without traits is
// still decided exactly; it is called for every candidate node of every pod, while all other rules keep their answers.
//
// A declaration that claims too little makes wrong placements. testing/traits_check.h finds it: it changes every part
// that a rule has not declared and requires that the answers stay the same.
#pragma once
#include <cstdint>

namespace berth::scheduler {

// Parts of a pod, as bits. template_parts.h says which fields each of them covers.
enum PodPart : uint32_t {
  kPodNothing = 0,
  kPodNamespace = 1u << 0,
  kPodLabels = 1u << 1,
  kPodController = 1u << 2,  // the owner reference with controller=true
  kPodRequests = 1u << 3,    // every amount that is counted as requested, with and without defaults
  kPodLimits = 1u << 4,      // the containers' limits
  kPodQos = 1u << 5,         // whether the pod is best-effort
  kPodHostPorts = 1u << 6,
  kPodNodeSelector = 1u << 7,  // nodeSelector and node affinity
  kPodTolerations = 1u << 8,
  kPodAffinity = 1u << 9,  // podAffinity and podAntiAffinity
  kPodSpread = 1u << 10,   // topologySpreadConstraints
  kPodVolumes = 1u << 11,
  kPodImages = 1u << 12,    // the images of the regular containers
  kPodPriority = 1u << 13,  // spec.priority and preemptionPolicy
  kPodSchedulerName = 1u << 14,
  kPodContainers = 1u << 15,  // the containers and overhead as they stand in the specification
  kPodGates = 1u << 16,       // schedulingGates
  // What two pods of one template may differ in: name, uid, nodeName, annotations, status.
  kPodIdentity = 1u << 17,
  kPodTemplate = kPodIdentity - 1,  // everything that pods of one template share
  kPodAnything = ~uint32_t{0},
};

// What a rule's answer for a node depends on beside the pod. What a rule with kNodePods reads includes what one with
// kNode does.
enum class ClusterPart : uint8_t {
  kNode,      // the node object alone
  kNodes,     // the node objects, not only its own: every answer is worked out anew when one of them changes
  kNodePods,  // the node object and the pods on that node
  kDomains,   // numbers of pods in topology domains: the rule implements DomainCheck or DomainScoring (domain_rule.h)
  // Predicates only: the pod's volumes with their claims and classes, the node, and the volumes on it. The rule fits
  // every node for a pod without volumes.
  kVolumes,
  kAnything,  // not declared
};

// How the raw scores of a priority become scores from 0 to the release's maximum.
enum class Normalisation : uint8_t {
  kNone,             // Map already returns them
  kMaximum,          // maximum * raw / largest raw score
  kMaximumReversed,  // maximum minus that
  kDomains,          // by DomainScoring::Normalise
  kOwn,              // by Reduce alone, from the raw scores of all feasible nodes
};

struct Traits {
  uint32_t pod = kPodAnything;  // PodPart bits
  ClusterPart cluster = ClusterPart::kAnything;
  Normalisation normalisation = Normalisation::kOwn;  // of priorities

  // True when answers can be kept between decisions.
  bool incremental() const {
    return cluster != ClusterPart::kAnything && (pod & kPodIdentity) == 0 &&
           (normalisation != Normalisation::kOwn || cluster == ClusterPart::kVolumes);
  }
};

// Traits of a predicate and of a priority, for registrations.
constexpr Traits PredicateTraits(uint32_t pod, ClusterPart cluster) {
  return {pod, cluster, Normalisation::kNone};
}
constexpr Traits PriorityTraits(uint32_t pod, ClusterPart cluster, Normalisation normalisation) {
  return {pod, cluster, normalisation};
}

}  // namespace berth::scheduler
