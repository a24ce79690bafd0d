// What becomes of nodes that are silent, not ready, under pressure or gone, and of their pods
// (pkg/controller/nodelifecycle, tainteviction and podgc, 1.36).
//
// A node is heard when its lease is renewed or its kubelet writes its Ready condition. When the grace period is over
// without either, its conditions become Unknown and its pods not ready; taints follow conditions, and taints that
// evict follow Ready, at most 0.1 node a second and zone, fewer where many nodes of a zone are not ready, and none
// while no node of the cluster is ready. Rules::node_taints is false: no taints; the pods go five minutes after
// their node.
#pragma once
#include <absl/time/time.h>

#include <memory>
#include <optional>

#include "pkg/world/living/world.h"

namespace berth::world::living {

struct NodeLifecycleOptions {
  std::optional<absl::Duration> grace{};  // none: the release's, 40 or 50 s
  // Whether every node has a kubelet. Otherwise a node that has never renewed a lease is left alone.
  bool expects_kubelets = true;
  // Whether kubelets report (KubeletOptions). If not, a node is silent while it has the annotation of a node that is
  // down, and nobody looks at nodes as long as nothing is to be done about any.
  bool kubelets_report = true;
};

std::unique_ptr<Actor> NewNodeLifecycle(World* world, NodeLifecycleOptions options);
// Deletes the pods that do not tolerate a NoExecute taint of their node, or not for longer.
std::unique_ptr<Actor> NewTaintEviction(World* world);
// Deletes the pods of nodes that are gone, 40 to 60 s later.
std::unique_ptr<Actor> NewPodCollector(World* world);

// Adds the taint that says that a new node is not ready, which the life cycle takes off again
// (plugin/pkg/admission/nodetaint).
void TaintNewNode(const Rules& rules, Value* node);

// What several of these do with a pod: delete it and say why in a condition, where the release has that condition.
void Disrupt(World* world, const PodFacts& pod, std::string_view reason, std::string_view message,
             std::optional<int64_t> grace_seconds);

}  // namespace berth::world::living
