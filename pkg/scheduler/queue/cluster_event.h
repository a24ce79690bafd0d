// Events in the cluster after which a pod may fit that did not fit before (Kubernetes 1.29 framework.ClusterEvent).
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <variant>

#include "pkg/api/types.h"

namespace berth::scheduler {

// What an event happened to: the object before and after. `before` is null if it was added, `after` if it is gone.
template <typename T>
struct EventObject {
  std::shared_ptr<const T> before, after;
};
// Of one of the kinds that hints look into; monostate if the event has no object.
using EventObjects =
    std::variant<std::monostate, EventObject<api::Pod>, EventObject<api::Node>, EventObject<api::PersistentVolume>,
                 EventObject<api::PersistentVolumeClaim>, EventObject<api::StorageClass>, EventObject<api::CsiNode>,
                 EventObject<api::CsiDriver>, EventObject<api::CsiStorageCapacity>, EventObject<api::VolumeAttachment>,
                 EventObject<api::ResourceClaim>, EventObject<api::ResourceSlice>, EventObject<api::DeviceClass>>;

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
    // Changes of a pod that waits itself. If an update makes several of them, each is an event (1.36).
    kOwnLabels,
    kOwnScaleDown,
    kOwnTolerations,        // as many as before do not count, because a toleration can only be added
    kOwnClaims,             // status.resourceClaimStatuses
    kOwnOther,              // none of these
    kUnschedulableTimeout,  // a pod has waited for EventQueueOptions::unschedulable_limit; stands for every event
  };
  Kind kind;
  EventObjects objects = {};

  // Return the object of the event before and after it; null where it was not there, and if the event has no object of
  // this kind.
  template <typename T>
  const T* Before() const {
    const auto* o = std::get_if<EventObject<T>>(&objects);
    return o == nullptr ? nullptr : o->before.get();
  }
  template <typename T>
  const T* After() const {
    const auto* o = std::get_if<EventObject<T>>(&objects);
    return o == nullptr ? nullptr : o->after.get();
  }
  // Returns whether the event has an object of this kind.
  template <typename T>
  bool Has() const {
    return std::holds_alternative<EventObject<T>>(objects);
  }
  // Returns the pod of the event, after it unless it is gone; null if the event has no pod.
  const api::Pod* pod() const { return After<api::Pod>() != nullptr ? After<api::Pod>() : Before<api::Pod>(); }
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
// Whether an event that wakes pods of a rule may let this pod, which the rule has rejected, fit: it looks into the
// objects of the event (1.36: queueing hints). An event without objects may.
using QueueingHint = std::function<bool(const api::Pod& waiting, const ClusterEvent& event)>;
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
  // Whether an event wakes a pod only if the hint of one of its rules says so (1.36: queueing hints). That holds for
  // pods that were placed or changed, for updates of the pod itself, and for events during its attempt; a change of a
  // node is then as many events as it has kinds. Otherwise pods that were placed or changed wake those whose affinity
  // selects them, any update of a waiting pod wakes it, and any event during an attempt counts.
  bool asks_hints = false;
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

// Returns what 1.36 calls an event of the kind in its metrics: the resource and what happened to it
// (pkg/scheduler/framework/events.go). Empty for kinds that it does not know.
std::string_view LabelOf(ClusterEvent::Kind kind);
// Returns what an update of a node changes; kNodeOther alone if none of the kinds before it.
EventSet NodeChanges(const api::Node& before, const api::Node& after);
// Returns the first kind of these in the order of the kinds.
ClusterEvent::Kind NodeChange(const api::Node& before, const api::Node& after);
// Returns what an update of a waiting pod changes; kOwnOther alone if none of the kinds before it.
EventSet OwnChanges(const api::Pod& before, const api::Pod& after);
// Returns whether one of the pod's amounts became smaller or was dropped, as at the end of a resize in place.
bool AsksForLess(const api::PodTemplate& before, const api::PodTemplate& after);

}  // namespace berth::scheduler
