// Computes a cluster as it would be after nodes are drained, cordoned, removed or added.
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "pkg/lab/scenario.h"

namespace berth::lab {

// Nodes to add.
struct NewNodes {
  std::string like;  // a file with one Node, or the name of a node of the cluster
  int64_t count = 1;
};

// Each element names nodes ("node-1,node-2") or is a label selector ("pool=blue", "disk in (ssd,nvme)").
struct Edits {
  std::vector<std::string> drain, cordon, remove;
  std::vector<NewNodes> add;
};

// The cluster after the edits, and what they did.
struct Edited {
  Scenario scenario;  // evicted pods are pending, in the order of the input
  struct Eviction {
    api::PodPtr pod;  // as it is pending now
    scheduler::Symbol from;
  };
  std::vector<Eviction> evictions;
  // A PodDisruptionBudget that the evictions violate.
  struct Budget {
    std::string name;
    int32_t allowed = 0;
    std::vector<std::string> evicted;  // more than `allowed`
  };
  std::vector<Budget> violated;
  // Evicted pods without a controller that would create them again. They are lost, and not pending.
  std::vector<std::string> bare;
  // Evicted pods that their controllers do not create again, because they want fewer.
  std::vector<std::string> not_wanted;
  std::vector<std::string> with_several_budgets;  // an eviction of such a pod is an error, whatever the budgets allow
  std::vector<std::string> with_empty_dir;        // evicted pods that lose the data of an emptyDir volume
  int64_t cordoned = 0, removed = 0, added = 0;
};

// Applies the edits. A drained node is cordoned and its pods are evicted as `kubectl drain --force` does: those of
// DaemonSets and mirrors of static pods stay, and pods that are being deleted go by themselves. The pods of a removed
// node are evicted, too, and those that would stay end. Returns an error that names a node or selector without a match,
// or a file that cannot be read.
absl::StatusOr<Edited> ApplyEdits(const Scenario& scenario, const Edits& edits);

// Adds `count` nodes like the given one to the scenario, with unused names and matching hostname labels. They are new:
// they are ready, without cordon, and without the taints of passing states (IsPassingTaint). The DaemonSets of the
// scenario have their pods on them; so have those that have a pod on the given node and are not in the input.
void AddNodes(const api::Node& like, int64_t count, Scenario* scenario);
// Returns whether a taint tells of a state that a new node is not in: taints of conditions, of a cloud provider that
// starts or stops a node, and of autoscalers that are about to delete it.
bool IsPassingTaint(std::string_view key);
// Returns the pods that the DaemonSets of the scenario get on a new node, running there.
std::vector<api::PodPtr> DaemonPodsOn(const api::Node& node, const Scenario& scenario);
// Returns the Node in a file, or the node of that name in the scenario.
absl::StatusOr<api::NodePtr> NodeTemplate(const std::string& like, const Scenario& scenario);

}  // namespace berth::lab
