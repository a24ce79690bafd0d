// Fields of a pod that are newer than the release of Kubernetes that a scheduler emulates, and how it treats them.
//
// Some newer fields are honoured by every release, because ignoring them does harm: schedulingGates, preemptionPolicy,
// overhead, sidecars (init containers with restartPolicy Always) and matchFields. What a pod with a node uses because
// of pod-level requests or of a resize in place counts in every release as well. The others are listed here. If such a
// field demands something of the pod's node or volumes, the pod waits; if it only states a preference, the pod is
// placed as if the field were absent. The limits of CSI volumes are treated as a demand of the pod, although CSINodes
// state them. pkg/api/pod_spec_fields.h lists all fields, also those that cannot matter.
#pragma once
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "pkg/api/types.h"
#include "pkg/release/release.h"
#include "pkg/scheduler/registry/algorithm_config.h"

namespace berth::scheduler {

enum class PodField : uint8_t {
  kRequiredSpread,              // topologySpreadConstraints, DoNotSchedule
  kPreferredSpread,             // topologySpreadConstraints, ScheduleAnyway
  kRequiredNamespaceSelector,   // namespaceSelector in required pod affinity or anti-affinity
  kPreferredNamespaceSelector,  // namespaceSelector in preferred pod affinity or anti-affinity
  kEphemeralVolume,             // volumes[].ephemeral
  kCsiLimits,                   // spec.drivers[].allocatable.count of CSINodes, for pods whose claims it limits
  kPodLevelResources,           // spec.resources
  kResourceClaims,              // spec.resourceClaims
  kSchedulingGroup,             // spec.schedulingGroup and workloadRef
  kNodeFeatures,                // what needs a feature that a node declares (PodTemplate::node_features)
};
inline constexpr size_t kPodFields = 10;

// Indexed by PodField.
using PodFieldSet = std::bitset<kPodFields>;

// Returns the path of the field and, where it matters, its value: "spec.volumes[].ephemeral".
std::string_view PodFieldPath(PodField field);
// Returns the listed fields that a release understands.
PodFieldSet PodFieldsUnderstoodBy(release::Version version);
// Returns the fields that the release of a configuration understands and those that its rules implement: a Policy may
// name EvenPodsSpread, EvenPodsSpreadPriority and MaxCSIVolumeCountPred, which are newer than 1.10.
PodFieldSet PodFieldsUnderstoodBy(const AlgorithmConfig& rules);

// Returns a text that says which scheduling gates the pod waits for, or an empty text when it has none.
std::string GatedText(const api::PodTemplate& pod);

struct UnknownPodFields {
  PodFieldSet ignored;   // the pod is placed as if they were absent
  PodFieldSet blocking;  // the pod must wait because of them
};
// Returns the fields that the pod uses and that are not in `understood`. kCsiLimits is never among them, because it
// depends on the cluster and not on the pod alone (see volumes::HasLimitedCsiVolumes).
UnknownPodFields FindUnknownPodFields(const api::PodTemplate& pod, const PodFieldSet& understood);
// Returns the message for a pod that waits. It names the fields, the release that understands them, and the flags that
// help. REQUIRES: blocking.any().
std::string BlockedText(const PodFieldSet& blocking);

// Returns the pod without the fields that a release with this set of fields does not understand, including those that
// every release honours, but with all that says how much it needs (overhead, sidecars, pod-level requests); the pod
// itself when it has none. The result is not blocked by what is left. This implements --ignore-unknown-fields.
api::PodPtr WithoutUnknownFields(const api::PodPtr& pod, const PodFieldSet& understood);

}  // namespace berth::scheduler
