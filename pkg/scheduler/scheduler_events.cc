#include "pkg/scheduler/scheduler_events.h"

#include <utility>

namespace berth::scheduler {
namespace {

using Kind = ClusterEvent::Kind;

// What an update of a pod with a node is called; LabelOf has the names for pods without one.
constexpr std::pair<Kind, std::string_view> kOfAssigned[] = {
    {Kind::kOwnLabels, "AssignedPodUpdatePodLabel"},
    {Kind::kOwnScaleDown, "AssignedPodUpdatePodScaleDown"},
    {Kind::kOwnTolerations, "AssignedPodUpdatePodToleration"},
    {Kind::kOwnClaims, "AssignedPodUpdatePodGeneratedResourceClaim"},
    {Kind::kOwnOther, "AssignedPodUpdate"},
};

}  // namespace

EventLabels LabelsOf(const Change<api::Pod>& c, absl::FunctionRef<bool(const api::Pod&)> ours) {
  const bool gone = c.after == nullptr || c.after->Finished();
  const bool was_known = c.before != nullptr && !c.before->Finished();
  if (!was_known) {
    if (gone) return {};
    if (!c.after->node_name.empty()) return {LabelOf(Kind::kAssignedPodAdd)};
    return ours(*c.after) ? EventLabels{"UnschedulablePodAdd"} : EventLabels();
  }
  const bool assigned = !c.before->node_name.empty();
  const bool placed_here = ours(*c.before);
  EventLabels labels;
  if (gone) {
    if (assigned) {
      labels.push_back(LabelOf(Kind::kAssignedPodDelete));
    } else if (placed_here) {
      labels.emplace_back("UnschedulablePodDelete");
    }
    return labels;
  }
  if (!assigned && !c.after->node_name.empty()) {
    labels.push_back(LabelOf(Kind::kAssignedPodAdd));
    if (placed_here) labels.emplace_back("UnschedulablePodDelete");
    return labels;
  }
  if (!assigned && !placed_here) return {};
  const EventSet changes = OwnChanges(*c.before, *c.after);
  for (const auto& [kind, label] : kOfAssigned) {
    if ((changes & EventsOf({kind})) == 0) continue;
    labels.push_back(assigned ? label : LabelOf(kind));
  }
  // An update of a waiting pod counts as such, too.
  if (!assigned && (changes & EventsOf({Kind::kOwnOther})) == 0) labels.push_back(LabelOf(Kind::kOwnOther));
  return labels;
}

EventLabels LabelsOf(const Change<api::Node>& c) {
  if (c.before == nullptr || c.after == nullptr) {
    return {LabelOf(c.before == nullptr ? Kind::kNodeAdd : Kind::kNodeDelete)};
  }
  const EventSet changes = NodeChanges(*c.before, *c.after);
  EventLabels labels;
  for (int k = static_cast<int>(Kind::kNodeBecameSchedulable); k < static_cast<int>(Kind::kNodeOther); ++k) {
    const auto kind = static_cast<Kind>(k);
    if ((changes & EventsOf({kind})) != 0) labels.push_back(LabelOf(kind));
  }
  return labels;
}

// The release has no handlers for what no plugin of it registers: new CSIDrivers, services, and most of what is
// deleted.
EventLabels LabelsOfStored(Kind kind, bool is_new) {
  switch (kind) {
    case Kind::kCsiDriverAdd:
      return {};
    case Kind::kStorageClassOther:
      return is_new ? EventLabels{LabelOf(Kind::kStorageClassAdd)} : EventLabels();
    default:
      return {LabelOf(kind)};
  }
}

EventLabels LabelsOfDevices(bool is_class, bool is_new) {
  const std::string_view slice = is_new ? "resource.k8s.io/ResourceSliceAdd" : "resource.k8s.io/ResourceSliceUpdate";
  const std::string_view of_class = is_new ? "resource.k8s.io/DeviceClassAdd" : "resource.k8s.io/DeviceClassUpdate";
  return {is_class ? of_class : slice};
}

}  // namespace berth::scheduler
