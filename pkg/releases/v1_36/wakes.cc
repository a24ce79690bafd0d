// Which events wake the pods that a plugin of release 1.36 has rejected, and how its queue treats them. Source:
// EventsToRegister of the plugins in pkg/scheduler/framework/plugins, buildQueueingHintMap in
// pkg/scheduler/scheduler.go and pkg/scheduler/backend/queue (1.36). What a queueing hint says about the single object
// is not part of it: an event that is registered wakes the pod.
#include <algorithm>

#include "pkg/releases/v1_36/decides.h"
#include "pkg/scheduler/queue/scheduling_queue.h"

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

// Whether a placed pod counts for a constraint that the waiting pod must meet.
bool CountsForSpread(const api::Pod& waiting, const api::Pod& other) {
  if (waiting.meta.ns != other.meta.ns) return false;
  const auto& all = waiting.tmpl->spread_constraints;
  return std::any_of(all.begin(), all.end(), [&](const api::TopologySpreadConstraint& c) {
    return c.action == api::TopologySpreadConstraint::Action::kDoNotSchedule && c.selector.ok() &&
           c.selector.selector.Matches(other.tmpl->labels);
  });
}

constexpr scheduler::Wake kRegistered[] = {
    {"NodeUnschedulable", kNodeAddOrTaints},
    {"NodeName", kNodeAddOrTaints},
    {"TaintToleration", kNodeAddOrTaints},
    {"NodeAffinity", kNodeAddOrLabels},
    {"NodePorts", kNodeAddOrTaints | EventsOf({kAssignedPodDelete})},
    {"NodeResourcesFit",
     kNodeAddOrTaints | EventsOf({kNodeAllocatable, kAssignedPodDelete, kAssignedPodScaleDown, kDevicesChange})},
    {"VolumeRestrictions", kNodeAddOrTaints | EventsOf({kAssignedPodDelete, kPersistentVolumeClaimAdd})},
    {"NodeVolumeLimits",
     EventsOf({kCsiNodeAdd, kCsiNodeUpdate, kAssignedPodDelete, kPersistentVolumeClaimAdd, kVolumeAttachmentDelete})},
    {"VolumeBinding", kNodeAddOrLabels | kVolumes | kClaims |
                          EventsOf({kStorageClassAdd, kStorageClassUpdate, kCsiNodeAdd, kCsiNodeUpdate,
                                    kCsiDriverUpdate, kCsiStorageCapacityAdd, kCsiStorageCapacityUpdate})},
    {"VolumeZone", kNodeAddOrLabels | kVolumes | kClaims | EventsOf({kStorageClassAdd})},
    {"PodTopologySpread", kNodeAddOrLabels | kPlacedPods | EventsOf({kNodeDelete}), CountsForSpread},
    {"InterPodAffinity", kNodeAddOrLabels | kPlacedPods, scheduler::WantsToBeNear},
    {"DynamicResources", kNodeAddOrLabels | kDevices | EventsOf({kNodeAllocatable})},
    {"NodeDeclaredFeatures", kNodeAddOrTaints | EventsOf({kNodeFeatures})},
    {"SchedulingGates", 0},
};

}  // namespace

const scheduler::Wakes& RejectionWakes() {
  static constexpr scheduler::Wakes kWakes = {
      .noticed = kNodeAddOrLabels | kPlacedPods | kVolumes | kClaims | kDevices |
                 EventsOf({kNodeAllocatable, kNodeConditions, kNodeFeatures, kNodeDelete, kAssignedPodUpdate,
                           kAssignedPodScaleDown, kStorageClassAdd, kStorageClassUpdate, kCsiNodeAdd, kCsiNodeUpdate,
                           kCsiDriverAdd, kCsiDriverUpdate, kCsiStorageCapacityAdd, kCsiStorageCapacityUpdate,
                           kVolumeAttachmentDelete}),
      .rules = kRegistered,
      .queue = {.placed_pods_wake_by_rule = true,
                .errors_back_off_apart = true,
                .pops_from_backoff = true,
                .names_resources = true}};
  return kWakes;
}

}  // namespace berth::releases::v1_36
