// What happens in the cluster that may let a pod fit which did not fit before (Kubernetes 1.29 framework.ClusterEvent).
#pragma once
#include <cstdint>

#include "pkg/api/types.h"

namespace berth::scheduler {

struct ClusterEvent {
  enum class Kind : uint8_t {
    kAssignedPodAdd,
    kAssignedPodUpdate,
    kAssignedPodLabels,  // its labels changed, in addition to kAssignedPodUpdate; no rule of 1.29 waits for that alone
    kAssignedPodDelete,  // also a pod that finished, and one whose bind failed
    kNodeAdd,
    // Changes of a node. Of several at once the first in this order is reported, as 1.29 does.
    kNodeBecameSchedulable,
    kNodeAllocatable,
    kNodeLabels,
    kNodeTaints,
    kNodeConditions,
    kNodeOther,  // what no rule of 1.29 looks at: spec.unschedulable set, images
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
    kUnschedulableTimeout,  // a pod has waited for very long; stands for every event
  };
  Kind kind;
  // The pod of the kAssignedPod events, and the node of the kNode events as it is now; else null. Not kept.
  const api::Pod* pod = nullptr;
  const api::Node* node = nullptr;
};

// Returns which of a node's changes is reported; kNodeOther when it is none that a rule looks at.
ClusterEvent::Kind NodeChange(const api::Node& before, const api::Node& after);

}  // namespace berth::scheduler
