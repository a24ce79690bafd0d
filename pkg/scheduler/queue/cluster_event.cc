#include "pkg/scheduler/queue/cluster_event.h"

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

namespace berth::scheduler {

using Kind = ClusterEvent::Kind;

// NOLINT(readability-function-size): one case for each label.
std::string_view LabelOf(Kind kind) {
  switch (kind) {
    case Kind::kAssignedPodAdd:
      return "AssignedPodAdd";
    case Kind::kAssignedPodUpdate:
      return "AssignedPodUpdate";
    case Kind::kAssignedPodDelete:
      return "AssignedPodDelete";
    case Kind::kNodeAdd:
      return "NodeAdd";
    case Kind::kNodeDelete:
      return "NodeDelete";
    case Kind::kAssignedPodLabels:
      return "AssignedPodUpdatePodLabel";
    case Kind::kAssignedPodScaleDown:
      return "AssignedPodUpdatePodScaleDown";
    case Kind::kNodeBecameSchedulable:
    case Kind::kNodeTaints:
      return "NodeUpdateNodeTaint";
    case Kind::kNodeAllocatable:
      return "NodeUpdateNodeAllocatable";
    case Kind::kNodeLabels:
      return "NodeUpdateNodeLabel";
    case Kind::kNodeConditions:
      return "NodeUpdateNodeCondition";
    case Kind::kNodeFeatures:
      return "NodeUpdateNodeDeclaredFeature";
    case Kind::kPersistentVolumeAdd:
      return "PersistentVolumeAdd";
    case Kind::kPersistentVolumeUpdate:
      return "PersistentVolumeUpdate";
    case Kind::kPersistentVolumeClaimAdd:
      return "PersistentVolumeClaimAdd";
    case Kind::kPersistentVolumeClaimUpdate:
      return "PersistentVolumeClaimUpdate";
    case Kind::kStorageClassAdd:
      return "storage.k8s.io/StorageClassAdd";
    case Kind::kStorageClassUpdate:
      return "storage.k8s.io/StorageClassUpdate";
    case Kind::kCsiNodeAdd:
      return "storage.k8s.io/CSINodeAdd";
    case Kind::kCsiNodeUpdate:
      return "storage.k8s.io/CSINodeUpdate";
    case Kind::kCsiDriverAdd:
      return "storage.k8s.io/CSIDriverAdd";
    case Kind::kCsiDriverUpdate:
      return "storage.k8s.io/CSIDriverUpdate";
    case Kind::kCsiStorageCapacityAdd:
      return "storage.k8s.io/CSIStorageCapacityAdd";
    case Kind::kCsiStorageCapacityUpdate:
      return "storage.k8s.io/CSIStorageCapacityUpdate";
    case Kind::kVolumeAttachmentDelete:
      return "storage.k8s.io/VolumeAttachmentDelete";
    case Kind::kResourceClaimAdd:
      return "resource.k8s.io/ResourceClaimAdd";
    case Kind::kResourceClaimUpdate:
      return "resource.k8s.io/ResourceClaimUpdate";
    case Kind::kDevicesChange:
      return "resource.k8s.io/ResourceSliceUpdate";
    case Kind::kUnschedulableTimeout:
      return "UnschedulableTimeout";
    case Kind::kOwnLabels:
      return "UnschedulablePodUpdatePodLabel";
    case Kind::kOwnScaleDown:
      return "UnschedulablePodUpdatePodScaleDown";
    case Kind::kOwnTolerations:
      return "UnschedulablePodUpdatePodToleration";
    case Kind::kOwnClaims:
      return "UnschedulablePodUpdatePodGeneratedResourceClaim";
    case Kind::kOwnOther:
      return "UnschedulablePodUpdate";
    default:
      return {};
  }
}

EventSet NodeChanges(const api::Node& before, const api::Node& after) {
  EventSet changes = 0;
  const auto note = [&](bool changed, Kind kind) { changes |= changed ? EventsOf({kind}) : 0; };
  note(before.unschedulable && !after.unschedulable, Kind::kNodeBecameSchedulable);
  note(before.allocatable != after.allocatable, Kind::kNodeAllocatable);
  note(before.labels != after.labels, Kind::kNodeLabels);
  note(before.taints != after.taints, Kind::kNodeTaints);
  note(before.conditions != after.conditions, Kind::kNodeConditions);
  note(before.declared_features != after.declared_features, Kind::kNodeFeatures);
  return changes == 0 ? EventsOf({Kind::kNodeOther}) : changes;
}

Kind NodeChange(const api::Node& before, const api::Node& after) {
  return static_cast<Kind>(std::countr_zero(NodeChanges(before, after)));
}

EventSet OwnChanges(const api::Pod& before, const api::Pod& after) {
  EventSet changes = 0;
  const auto note = [&](bool changed, Kind kind) { changes |= changed ? EventsOf({kind}) : 0; };
  if (before.tmpl != after.tmpl) {
    note(before.tmpl->labels != after.tmpl->labels, Kind::kOwnLabels);
    note(AsksForLess(*before.tmpl, *after.tmpl), Kind::kOwnScaleDown);
    note(before.tmpl->tolerations.size() != after.tmpl->tolerations.size(), Kind::kOwnTolerations);
  }
  const bool both = before.claim_statuses && after.claim_statuses;
  note(both ? *before.claim_statuses != *after.claim_statuses : before.claim_statuses || after.claim_statuses,
       Kind::kOwnClaims);
  return changes == 0 ? EventsOf({Kind::kOwnOther}) : changes;
}

bool AsksForLess(const api::PodTemplate& before, const api::PodTemplate& after) {
  const auto shrank = [](const api::ResourceList& was, const api::ResourceList& is) {
    if (was == is) return false;
    const std::map<util::Symbol, api::Quantity> now(is.begin(), is.end());
    return std::any_of(was.begin(), was.end(), [&](const auto& entry) {
      const auto it = now.find(entry.first);
      return it == now.end() || it->second < entry.second;
    });
  };
  const auto any_shrank = [&](const std::vector<api::Container>& was, const std::vector<api::Container>& is) {
    for (size_t i = 0; i < was.size(); ++i) {
      if (shrank(was[i].requests, i < is.size() ? is[i].requests : api::ResourceList())) return true;
    }
    return false;
  };
  return any_shrank(before.containers, after.containers) || any_shrank(before.init_containers, after.init_containers) ||
         shrank(before.pod_requests, after.pod_requests);
}

}  // namespace berth::scheduler
