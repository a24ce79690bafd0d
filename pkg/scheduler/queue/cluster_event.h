// Events in the cluster after which a pod may fit that did not fit before (Kubernetes 1.29 framework.ClusterEvent).
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "pkg/api/types.h"

namespace berth::scheduler {

struct ClusterEvent {
  enum class Kind : uint8_t {
    kAssignedPodAdd,
    kAssignedPodUpdate,
    kAssignedPodLabels,  // raised beside kAssignedPodUpdate when the labels changed; no plugin of 1.29 registers for it
    kAssignedPodScaleDown,  // raised beside them when the pod counts for less: a resize in place was made (1.33)
    kAssignedPodDelete,     // also for a pod that has finished and for one whose bind failed
    kNodeAdd,
    // Changes of a node. If an update makes several of them, the first in this order is reported, as in 1.29.
    kNodeBecameSchedulable,
    kNodeAllocatable,
    kNodeLabels,
    kNodeTaints,
    kNodeConditions,
    kNodeFeatures,  // status.declaredFeatures (1.36)
    kNodeOther,     // changes that no plugin of 1.29 registers for: spec.unschedulable was set, images
    kNodeDelete,
    kPersistentVolumeAdd,
    kPersistentVolumeUpdate,
    kPersistentVolumeClaimAdd,
    kPersistentVolumeClaimUpdate,
    kPersistentVolumeClaimDelete,
    kStorageClassAdd,  // with binding mode WaitForFirstConsumer
    kStorageClassUpdate,
    kCsiNodeAdd,
    kCsiNodeUpdate,
    kCsiDriverAdd,
    kCsiDriverUpdate,
    kCsiStorageCapacityAdd,
    kCsiStorageCapacityUpdate,
    kVolumeAttachmentDelete,
    kResourceClaimAdd,
    kResourceClaimUpdate,
    kDevicesChange,      // a ResourceSlice or DeviceClass was added or changed
    kStorageClassOther,  // added with another binding mode, or deleted
    kServiceAdd,
    kServiceUpdate,
    kServiceDelete,
    kUnschedulableTimeout,  // a pod has waited for EventQueueOptions::unschedulable_limit; stands for every event
  };
  Kind kind;
  // The pod of a kAssignedPod event, and the node of a kNode event after the change; null otherwise. The queue does not
  // keep these pointers.
  const api::Pod* pod = nullptr;
  const api::Node* node = nullptr;
};

// One bit for each ClusterEvent::Kind.
using EventSet = uint64_t;
constexpr EventSet EventsOf(std::initializer_list<ClusterEvent::Kind> kinds) {
  EventSet set = 0;
  for (ClusterEvent::Kind kind : kinds) set |= EventSet{1} << static_cast<int>(kind);
  return set;
}

// The events that wake a pod which a rule has rejected.
struct Wake {
  std::string_view rule;  // the name of the predicate or plugin
  EventSet events = 0;
  // For events of placed pods: whether `other`, which was placed or has changed, may help `waiting`. If null, each may.
  bool (*placed_helps)(const api::Pod& waiting, const api::Pod& other) = nullptr;
};
// How a release's queue treats pods besides. The values are those of 1.29.
struct QueueRules {
  // Whether a node event wakes only pods that pass cheap checks of the node (1.29: preCheck).
  bool looks_at_nodes = true;
  // Whether a pod whose attempt ended with an error, or whose bind failed, waits for an event like one that was
  // rejected; otherwise its back-off begins at once.
  bool errors_wait_for_events = false;
  // Whether any change of a node counts for pods under way while no pod waits for an event (1.13, 1.19).
  bool counts_any_node_change = false;
  // Whether an update of a pod makes it active at once, whatever is left of its back-off (1.19).
  bool updates_end_backoff = false;
  // Whether a pod that was placed or changed wakes pods of the rules that are registered for it, and not only those
  // whose affinity selects it (1.36: queueing hints).
  bool placed_pods_wake_by_rule = false;
  // Whether errors count apart from rejections and back off apart, and ends of back-offs are whole seconds (1.36).
  bool errors_back_off_apart = false;
  // Whether the first pod that backs off after a rejection is popped when no pod is active (1.36).
  bool pops_from_backoff = false;
  // Whether pods back off at all (not in 1.13 with PodPriority).
  bool backs_off = true;
  // Whether pods of one priority are tried in the order of the times of their last tries, or of their creation (1.13).
  bool orders_by_last_try = false;
  // The names of events in the metric queue_incoming_pods_total: as in 1.19 to 1.29, or as in 1.36.
  bool names_resources = false;
};
// Which events wake which pods in a release. By default, every event wakes every pod.
struct Wakes {
  EventSet noticed = ~EventSet{0};   // the release does not know other events
  std::span<const Wake> rules = {};  // a rule that is not listed waits for every event that is noticed
  QueueRules queue = {};
};

// Returns the kind of event for an update of a node.
ClusterEvent::Kind NodeChange(const api::Node& before, const api::Node& after);

}  // namespace berth::scheduler
