// The failure reasons, as they appear in events and pod conditions, by which something else is told apart, and the
// kinds of those that differ from object to object.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::reasons {

// With the texts of release 1.10. Each reason also says whether evicting pods from the node can help
// (FailureReason::unresolvable).
extern const FailureReason kDiskConflict, kVolumeZoneConflict, kNodeSelectorNotMatch, kPodAffinityNotMatch,
    kPodAffinityRulesNotMatch, kPodAntiAffinityRulesNotMatch, kExistingPodsAntiAffinityRulesNotMatch,
    kTaintsTolerationsNotMatch, kPodNotMatchHostName, kPodNotFitsHostPorts, kNodeLabelPresenceViolated,
    kServiceAffinityViolated, kMaxVolumeCountExceeded, kNodeUnderMemoryPressure, kNodeUnderDiskPressure,
    kNodeUnderPidPressure, kNodeOutOfDisk, kNodeNotReady, kNodeNetworkUnavailable, kNodeUnschedulable,
    kNodeUnknownCondition, kVolumeNodeConflict, kVolumeBindConflict;

// With the texts of later releases.
extern const FailureReason kTooManyPods, kOwnNodeAffinity, kEnforcedNodeAffinity, kOtherNode, kRequiredPodAffinity,
    kSpreadSkew, kSpreadLabel, kUntoleratedTaints;
// FailureReason::kind of reasons and errors that name an object.
extern const Symbol kExtendedResource, kUntoleratedTaint, kNoClaim, kClaimIsDeleted, kClaimLostVolume, kNoClaimYet,
    kNoVolume, kNoStorageClass, kNoDriver;

// Returns the reason for a lack of `resource`, such as "Insufficient cpu".
FailureReason Insufficient(Symbol resource);

}  // namespace berth::scheduler::reasons
