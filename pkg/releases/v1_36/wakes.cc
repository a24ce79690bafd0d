// Which events wake the pods that a plugin of release 1.36 has rejected, and how its queue treats them. Source:
// EventsToRegister of the plugins in pkg/scheduler/framework/plugins, buildQueueingHintMap in
// pkg/scheduler/scheduler.go and pkg/scheduler/backend/queue (1.36). What the queueing hints say about the single
// object stands beside the rules (pkg/scheduler/algorithm), which decides.cc registers.
#include "pkg/releases/v1_36/decides.h"

namespace berth::releases::v1_36 {
namespace {

using scheduler::EventSet;
using scheduler::EventsOf;
using enum scheduler::ClusterEvent::Kind;

// A node that becomes schedulable loses a taint.
constexpr EventSet kTaints = EventsOf({kNodeBecameSchedulable, kNodeTaints});
// Plugins that register for new nodes and not for taints get those too, because a node's taints may have kept it from
// being looked at when it was new.
constexpr EventSet kNodeAddOrTaints = kTaints | EventsOf({kNodeAdd});
constexpr EventSet kNodeAddOrLabels = kNodeAddOrTaints | EventsOf({kNodeLabels});
constexpr EventSet kPlacedPods = EventsOf({kAssignedPodAdd, kAssignedPodLabels, kAssignedPodDelete});
constexpr EventSet kClaims = EventsOf({kPersistentVolumeClaimAdd, kPersistentVolumeClaimUpdate});
constexpr EventSet kVolumes = EventsOf({kPersistentVolumeAdd, kPersistentVolumeUpdate});
constexpr EventSet kDevices = EventsOf({kResourceClaimAdd, kResourceClaimUpdate, kDevicesChange});

constexpr EventSet kOwn = EventsOf({kOwnLabels, kOwnScaleDown, kOwnTolerations, kOwnClaims, kOwnOther});

constexpr scheduler::Wake kRegistered[] = {
    {"NodeUnschedulable", kNodeAddOrTaints | EventsOf({kOwnTolerations})},
    {"NodeName", kNodeAddOrTaints},
    {"TaintToleration", kNodeAddOrTaints | EventsOf({kOwnTolerations})},
    {"NodeAffinity", kNodeAddOrLabels},
    {"NodePorts", kNodeAddOrTaints | EventsOf({kAssignedPodDelete})},
    {"NodeResourcesFit", kNodeAddOrTaints | EventsOf({kNodeAllocatable, kAssignedPodDelete, kAssignedPodScaleDown,
                                                      kOwnScaleDown, kDevicesChange})},
    {"VolumeRestrictions", kNodeAddOrTaints | EventsOf({kAssignedPodDelete, kPersistentVolumeClaimAdd})},
    {"NodeVolumeLimits",
     EventsOf({kCsiNodeAdd, kCsiNodeUpdate, kAssignedPodDelete, kPersistentVolumeClaimAdd, kVolumeAttachmentDelete})},
    {"VolumeBinding", kNodeAddOrLabels | kVolumes | kClaims |
                          EventsOf({kStorageClassAdd, kStorageClassUpdate, kCsiNodeAdd, kCsiNodeUpdate,
                                    kCsiDriverUpdate, kCsiStorageCapacityAdd, kCsiStorageCapacityUpdate})},
    {"VolumeZone", kNodeAddOrLabels | kVolumes | kClaims | EventsOf({kStorageClassAdd})},
    {"PodTopologySpread", kNodeAddOrLabels | kPlacedPods | EventsOf({kNodeDelete, kOwnLabels, kOwnTolerations})},
    {"InterPodAffinity", kNodeAddOrLabels | kPlacedPods | EventsOf({kOwnLabels})},
    {"DynamicResources", kNodeAddOrLabels | kDevices | EventsOf({kNodeAllocatable, kOwnClaims})},
    {"NodeDeclaredFeatures", kNodeAddOrTaints | kOwn | EventsOf({kNodeFeatures})},
    {"SchedulingGates", 0},
};

}  // namespace

const scheduler::Wakes& RejectionWakes() {
  static constexpr scheduler::Wakes kWakes = {
      .noticed = kNodeAddOrLabels | kPlacedPods | kVolumes | kClaims | kDevices | kOwn |
                 EventsOf({kNodeAllocatable, kNodeConditions, kNodeFeatures, kNodeDelete, kAssignedPodUpdate,
                           kAssignedPodScaleDown, kStorageClassAdd, kStorageClassUpdate, kCsiNodeAdd, kCsiNodeUpdate,
                           kCsiDriverAdd, kCsiDriverUpdate, kCsiStorageCapacityAdd, kCsiStorageCapacityUpdate,
                           kVolumeAttachmentDelete}),
      .rules = kRegistered,
      .queue = {.looks_at_nodes = false,
                .asks_hints = true,
                .errors_back_off_apart = true,
                .pops_from_backoff = true,
                .names_resources = true}};
  return kWakes;
}

}  // namespace berth::releases::v1_36
