// Fields of a pod that came after a release of Kubernetes, and what a scheduler that emulates the release does about
// them.
//
// Some later fields are honoured whatever the release, as ignoring them does harm: schedulingGates, preemptionPolicy,
// overhead, sidecars (init containers with restartPolicy Always) and matchFields. The others are listed here. A pod
// with one that demands something of its node or its volumes waits; one that only prefers is placed without regard to
// the preference. The limits of CSI volumes are such a demand, though it is CSINodes that make it.
#pragma once
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "pkg/api/types.h"
#include "pkg/scheduler/registry/algorithm_config.h"

namespace berth::scheduler {

enum class PodField : uint8_t {
  kRequiredSpread,              // topologySpreadConstraints, DoNotSchedule
  kPreferredSpread,             // topologySpreadConstraints, ScheduleAnyway
  kRequiredNamespaceSelector,   // of required pod affinity and anti-affinity
  kPreferredNamespaceSelector,  // of preferred pod affinity and anti-affinity
  kEphemeralVolume,             // volumes[].ephemeral
  kCsiLimits,                   // spec.drivers[].allocatable.count of CSINodes, for a pod whose claims they limit
};
inline constexpr size_t kPodFields = 6;

// Indexed by PodField.
using PodFieldSet = std::bitset<kPodFields>;

// Returns the field's path, with what is special about its value: "spec.volumes[].ephemeral".
std::string_view PodFieldPath(PodField field);
// Returns the listed fields that a release understands: all of them from 1.29 on, none in 1.10.
PodFieldSet PodFieldsUnderstoodBy(std::string_view release);
// Returns what the release of the rules understands and what they do themselves: a Policy may name the rules
// EvenPodsSpread, EvenPodsSpreadPriority and MaxCSIVolumeCountPred, which came after 1.10.
PodFieldSet PodFieldsUnderstoodBy(const AlgorithmConfig& rules);

// Returns why a pod is not tried while it has scheduling gates; an empty text when it has none.
std::string GatedText(const api::PodTemplate& pod);

struct UnknownPodFields {
  PodFieldSet ignored;   // the pod is placed without regard to them
  PodFieldSet blocking;  // the pod must wait because of them
};
// Returns the fields that a pod uses and that are not understood; kCsiLimits, which takes a look at the cluster, is
// never among them (volumes::HasLimitedCsiVolumes says whether it is).
UnknownPodFields FindUnknownPodFields(const api::PodTemplate& pod, const PodFieldSet& understood);
// Returns why a pod waits: it names the fields, the release that understands them, and the flags that help.
// REQUIRES: blocking.any().
std::string BlockedText(const PodFieldSet& blocking);

// Returns the pod as release 1.10 saw it, without any field that came later, those that are always honoured included;
// the pod itself when it has none. This is what --ignore-unknown-fields asks for.
api::PodPtr WithoutLaterFields(const api::PodPtr& pod);

}  // namespace berth::scheduler
