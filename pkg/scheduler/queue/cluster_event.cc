#include "pkg/scheduler/queue/cluster_event.h"

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

namespace berth::scheduler {

using Kind = ClusterEvent::Kind;

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
