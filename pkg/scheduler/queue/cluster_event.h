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
    kNodeOther,  // changes that no plugin of 1.29 registers for: spec.unschedulable was set, images
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
    kStorageClassOther,     // added with another binding mode, or deleted
    kService,               // added, changed or deleted
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
};
// Which events wake which pods in a release. By default, every event wakes every pod.
struct Wakes {
  EventSet noticed = ~EventSet{0};   // the release does not know other events
  std::span<const Wake> rules = {};  // a rule that is not listed waits for every event that is noticed
};

// Returns the kind of event for an update of a node.
ClusterEvent::Kind NodeChange(const api::Node& before, const api::Node& after);

}  // namespace berth::scheduler
