// Under which labels 1.36 measures how long changes of the cluster take (pkg/scheduler/eventhandlers.go): what happened
// to which resource. An update that is several things counts for each.
#include "pkg/scheduler/scheduler.h"
#include "pkg/scheduler/scheduling_state.h"

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

std::vector<std::string_view> Scheduler::EventLabels(const Change<api::Pod>& c) const {
  const bool gone = c.after == nullptr || c.after->Finished();
  const bool was_known = c.before != nullptr && !c.before->Finished();
  if (!was_known) {
    if (gone) return {};
    if (!c.after->node_name.empty()) return {LabelOf(Kind::kAssignedPodAdd)};
    return Ours(*c.after) ? std::vector<std::string_view>{"UnschedulablePodAdd"} : std::vector<std::string_view>();
  }
  const bool assigned = !c.before->node_name.empty();
  const bool ours = Ours(*c.before);
  std::vector<std::string_view> labels;
  if (gone) {
    if (assigned) {
      labels.push_back(LabelOf(Kind::kAssignedPodDelete));
    } else if (ours) {
      labels.emplace_back("UnschedulablePodDelete");
    }
    return labels;
  }
  if (!assigned && !c.after->node_name.empty()) {
    labels.push_back(LabelOf(Kind::kAssignedPodAdd));
    if (ours) labels.emplace_back("UnschedulablePodDelete");
    return labels;
  }
  if (!assigned && !ours) return {};
  const EventSet changes = OwnChanges(*c.before, *c.after);
  for (const auto& [kind, label] : kOfAssigned) {
    if ((changes & EventsOf({kind})) == 0) continue;
    labels.push_back(assigned ? label : LabelOf(kind));
  }
  // An update of a waiting pod counts as such, too.
  if (!assigned && (changes & EventsOf({Kind::kOwnOther})) == 0) labels.push_back(LabelOf(Kind::kOwnOther));
  return labels;
}

void Scheduler::ObserveEvents(const std::vector<std::string_view>& labels) {
  const absl::Duration took = s_.clock->Steady() - s_.now;
  for (const std::string_view label : labels) {
    if (!label.empty()) s_.metrics.events[label].Observe(took);
  }
}

void Scheduler::ObserveEvent(const Change<api::Node>& c) {
  if (c.before == nullptr || c.after == nullptr) {
    return ObserveEvents({LabelOf(c.before == nullptr ? Kind::kNodeAdd : Kind::kNodeDelete)});
  }
  const EventSet changes = NodeChanges(*c.before, *c.after);
  std::vector<std::string_view> labels;
  for (int k = static_cast<int>(Kind::kNodeBecameSchedulable); k < static_cast<int>(Kind::kNodeOther); ++k) {
    const auto kind = static_cast<Kind>(k);
    if ((changes & EventsOf({kind})) != 0) labels.push_back(LabelOf(kind));
  }
  ObserveEvents(labels);
}

// The release has no handlers for what no plugin of it registers: new CSIDrivers, services, and most of what is
// deleted.
void Scheduler::ObserveStored(Kind kind, bool is_new) {
  switch (kind) {
    case Kind::kCsiDriverAdd:
      return;
    case Kind::kStorageClassOther:
      return ObserveEvents({is_new ? LabelOf(Kind::kStorageClassAdd) : std::string_view()});
    default:
      return ObserveEvents({LabelOf(kind)});
  }
}

void Scheduler::ObserveDevices(bool is_class, bool is_new) {
  const std::string_view slice = is_new ? "resource.k8s.io/ResourceSliceAdd" : "resource.k8s.io/ResourceSliceUpdate";
  const std::string_view of_class = is_new ? "resource.k8s.io/DeviceClassAdd" : "resource.k8s.io/DeviceClassUpdate";
  ObserveEvents({is_class ? of_class : slice});
}

}  // namespace berth::scheduler
