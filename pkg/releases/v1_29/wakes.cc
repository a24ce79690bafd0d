// Which events wake the pods that a plugin of release 1.29 has rejected. Source: EventsToRegister of the plugins in
// pkg/scheduler/framework/plugins (1.29).
#include "pkg/releases/v1_29/decides.h"

namespace berth::releases::v1_29 {
namespace {

using scheduler::EventSet;
using scheduler::EventsOf;
using enum scheduler::ClusterEvent::Kind;

constexpr EventSet kAnyNodeUpdate =
    EventsOf({kNodeBecameSchedulable, kNodeAllocatable, kNodeLabels, kNodeTaints, kNodeConditions});
constexpr EventSet kNodeAddOrUpdate = kAnyNodeUpdate | EventsOf({kNodeAdd});
constexpr EventSet kNodeAddOrLabels = EventsOf({kNodeAdd, kNodeLabels});
constexpr EventSet kAnyAssignedPod = EventsOf({kAssignedPodAdd, kAssignedPodUpdate, kAssignedPodDelete});
// 1.29 does not know that a placed pod can shrink. Where newer clusters let it, the room that it leaves counts as that
// of a deleted pod.
constexpr EventSet kShrunk = EventsOf({kAssignedPodScaleDown});
constexpr EventSet kStorage =
    EventsOf({kPersistentVolumeAdd, kPersistentVolumeUpdate, kPersistentVolumeClaimAdd, kPersistentVolumeClaimUpdate,
              kStorageClassAdd, kStorageClassUpdate, kCsiNodeAdd, kCsiNodeUpdate, kCsiDriverAdd, kCsiDriverUpdate,
              kCsiStorageCapacityAdd, kCsiStorageCapacityUpdate});
constexpr EventSet kInTreeLimits = EventsOf({kNodeAdd, kAssignedPodDelete});

constexpr scheduler::Wake kRegistered[] = {
    {"NodeResourcesFit", kNodeAddOrUpdate | EventsOf({kAssignedPodDelete}) | kShrunk},
    {"NodeAffinity", kNodeAddOrUpdate},
    {"NodeName", kNodeAddOrUpdate},
    {"TaintToleration", kNodeAddOrUpdate},
    {"NodeUnschedulable", EventsOf({kNodeAdd, kNodeBecameSchedulable, kNodeTaints})},
    {"NodePorts", kNodeAddOrUpdate | EventsOf({kAssignedPodDelete})},
    {"VolumeRestrictions",
     EventsOf({kAssignedPodDelete, kNodeAdd, kPersistentVolumeClaimAdd, kPersistentVolumeClaimUpdate})},
    {"EBSLimits", kInTreeLimits},
    {"GCEPDLimits", kInTreeLimits},
    {"AzureDiskLimits", kInTreeLimits},
    {"CinderLimits", kInTreeLimits},
    {"NodeVolumeLimits", EventsOf({kCsiNodeAdd, kAssignedPodDelete})},
    {"VolumeBinding", kStorage | kNodeAddOrLabels},
    {"VolumeZone", kNodeAddOrLabels | EventsOf({kStorageClassAdd, kPersistentVolumeClaimAdd, kPersistentVolumeAdd,
                                                kPersistentVolumeUpdate})},
    // The registration for "node deleted" is left out. It has no effect upstream, where that event is never raised.
    {"PodTopologySpread", kAnyAssignedPod | kNodeAddOrLabels},
    {"InterPodAffinity", kAnyAssignedPod | kNodeAddOrLabels},
    {"SchedulingGates", 0},
};

}  // namespace

const scheduler::Wakes& RejectionWakes() {
  static constexpr scheduler::Wakes kWakes = {.noticed = kNodeAddOrUpdate | kAnyAssignedPod | kShrunk | kStorage,
                                              .rules = kRegistered};
  return kWakes;
}

}  // namespace berth::releases::v1_29
