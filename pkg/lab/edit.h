// A cluster as it would be after nodes were drained, cordoned, removed or added.
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "pkg/lab/scenario.h"

namespace berth::lab {

struct NewNodes {
  std::string like;  // a file with one Node, or the name of a node of the cluster
  int64_t count = 1;
};

// Nodes are named one by one or by a label selector ("pool=blue", "disk in (ssd,nvme)").
struct Edits {
  std::vector<std::string> drain, cordon, remove;
  std::vector<NewNodes> add;
};

struct Edited {
  Scenario scenario;  // evicted pods are pending in it, where they stood in the input's order
  struct Eviction {
    api::PodPtr pod;  // as it is pending
    scheduler::Symbol from;
  };
  std::vector<Eviction> evictions;
  struct Budget {
    std::string name;
    int32_t allowed = 0;
    std::vector<std::string> evicted;  // more than allowed
  };
  std::vector<Budget> violated;
  std::vector<std::string> bare;  // evicted pods that no controller would make again
  int64_t cordoned = 0, removed = 0, added = 0;
};

// A drained node is cordoned and its pods are evicted, but for those of DaemonSets, which stay. A removed node's pods
// are evicted too, and its DaemonSets' pods end. New nodes get names that are not taken and a hostname label of their
// own. Errors name the node or selector that matches nothing, and files that cannot be read.
absl::StatusOr<Edited> ApplyEdits(const Scenario& scenario, const Edits& edits);

// Adds `count` nodes like the given one to `cluster`.
void AddNodes(const api::Node& like, int64_t count, std::vector<api::Object>* cluster);
// A file with one Node, or the node of that name in the scenario.
absl::StatusOr<api::NodePtr> NodeTemplate(const std::string& like, const Scenario& scenario);

}  // namespace berth::lab
