// Failure reasons, with 1.10's texts as they stand in events and conditions.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::reasons {

// Unresolvable ones are those that evicting pods from the node cannot change.
extern const FailureReason kDiskConflict, kVolumeZoneConflict, kNodeSelectorNotMatch, kPodAffinityNotMatch,
    kPodAffinityRulesNotMatch, kPodAntiAffinityRulesNotMatch, kExistingPodsAntiAffinityRulesNotMatch,
    kTaintsTolerationsNotMatch, kPodNotMatchHostName, kPodNotFitsHostPorts, kNodeLabelPresenceViolated,
    kServiceAffinityViolated, kMaxVolumeCountExceeded, kNodeUnderMemoryPressure, kNodeUnderDiskPressure,
    kNodeUnderPidPressure, kNodeOutOfDisk, kNodeNotReady, kNodeNetworkUnavailable, kNodeUnschedulable,
    kNodeUnknownCondition, kVolumeNodeConflict, kVolumeBindConflict;

// "Insufficient cpu"
FailureReason Insufficient(Symbol resource);

}  // namespace berth::scheduler::reasons
