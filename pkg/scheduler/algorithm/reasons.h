// The failure reasons with the texts of release 1.10, as they appear in events and pod conditions.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::reasons {

// Each reason also says whether evicting pods from the node can help (FailureReason::unresolvable).
extern const FailureReason kDiskConflict, kVolumeZoneConflict, kNodeSelectorNotMatch, kPodAffinityNotMatch,
    kPodAffinityRulesNotMatch, kPodAntiAffinityRulesNotMatch, kExistingPodsAntiAffinityRulesNotMatch,
    kTaintsTolerationsNotMatch, kPodNotMatchHostName, kPodNotFitsHostPorts, kNodeLabelPresenceViolated,
    kServiceAffinityViolated, kMaxVolumeCountExceeded, kNodeUnderMemoryPressure, kNodeUnderDiskPressure,
    kNodeUnderPidPressure, kNodeOutOfDisk, kNodeNotReady, kNodeNetworkUnavailable, kNodeUnschedulable,
    kNodeUnknownCondition, kVolumeNodeConflict, kVolumeBindConflict;

// Returns the reason for a lack of `resource`, such as "Insufficient cpu".
FailureReason Insufficient(Symbol resource);

}  // namespace berth::scheduler::reasons
