// Pending pods with status.nominatedNodeName, by node: other pods were evicted there for them (gate PodPriority).
// Kept by the queue, read by the algorithm; one thread.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <string>
#include <vector>

#include "pkg/api/types.h"

namespace berth::scheduler {

class NominatedPods {
 public:
  // Under pod->nominated_node_name, in order of arrival; a pod already known by uid moves. No nomination: removed.
  void Add(const api::PodPtr& pod);
  void Remove(const api::Pod& pod);  // by uid
  // Empty when there are none.
  const std::vector<api::PodPtr>& For(util::Symbol node) const;
  // Nodes with nominations.
  const absl::flat_hash_map<util::Symbol, std::vector<api::PodPtr>>& nodes() const { return by_node_; }
  bool empty() const { return by_node_.empty(); }

 private:
  absl::flat_hash_map<util::Symbol, std::vector<api::PodPtr>> by_node_;
  absl::flat_hash_map<std::string, util::Symbol> node_of_;  // by uid
};

}  // namespace berth::scheduler
