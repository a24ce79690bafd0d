// What the queueing hints of several families ask. A hint says whether an event may let a pod fit that its rule has
// rejected (QueueingHint). An object that an event lacks is taken for one that helps.
#pragma once
#include <string_view>

#include "pkg/scheduler/queue/cluster_event.h"

namespace berth::scheduler::hints {

// Returns whether the event is that a node lost or changed taints. It counts for rules that do not read taints, too,
// because a node's taints may have kept the pod from being looked at when the node was new.
inline bool IsAboutTaints(const ClusterEvent& e) {
  return e.kind == ClusterEvent::Kind::kNodeTaints || e.kind == ClusterEvent::Kind::kNodeBecameSchedulable;
}
// Returns whether the event is a change of the waiting pod itself.
inline bool IsOwn(const ClusterEvent& e) {
  return e.kind >= ClusterEvent::Kind::kOwnLabels && e.kind <= ClusterEvent::Kind::kOwnOther;
}
// Returns whether the pod had a node or was nominated to one, so that others had to count with it.
inline bool HadPlace(const api::Pod& pod) {
  return !pod.node_name.empty() || !pod.nominated_node_name.empty();
}
// Returns whether one of the pod's volumes uses this claim of this namespace.
bool UsesClaim(const api::Pod& pod, util::Symbol ns, std::string_view claim);

}  // namespace berth::scheduler::hints
