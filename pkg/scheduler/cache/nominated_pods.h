// The pending pods with status.nominatedNodeName, by node. Preemption has evicted other pods from that node for them
// (gate PodPriority). The queue maintains it and the algorithm reads it.
//
// Thread-safety: none; used on the scheduler's thread.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <string>
#include <vector>

#include "pkg/api/types.h"

namespace berth::scheduler {

class NominatedPods {
 public:
  // Adds the pod behind the others of pod->nominated_node_name. A pod with the same uid is removed first; a pod without
  // a nomination is only removed.
  void Add(const api::PodPtr& pod);
  // Removes the pod with this uid, if there is one.
  void Remove(const api::Pod& pod);
  // Returns the pods nominated to the node in the order in which they were added; empty when there are none.
  const std::vector<api::PodPtr>& For(util::Symbol node) const;
  // Returns the nominated pods by node, without nodes that have none.
  const absl::flat_hash_map<util::Symbol, std::vector<api::PodPtr>>& nodes() const { return by_node_; }
  bool empty() const { return by_node_.empty(); }
  bool Has(const api::Pod& pod) const { return node_of_.contains(pod.meta.uid); }
  // Grows by one with each change of a node's nominated pods.
  uint64_t version() const { return changes_begin_ + changes_.size(); }
  // Calls f(node) for each change after the given version, oldest first. A node may come more than once. Returns false,
  // without any call, when the log does not reach that far back.
  template <typename F>
  bool ChangesSince(uint64_t version, F f) const {
    if (version < changes_begin_) return false;
    for (size_t i = version - changes_begin_; i < changes_.size(); ++i) f(changes_[i]);
    return true;
  }

 private:
  void NoteChange(util::Symbol node);

  absl::flat_hash_map<util::Symbol, std::vector<api::PodPtr>> by_node_;
  absl::flat_hash_map<std::string, util::Symbol> node_of_;  // by uid
  std::vector<util::Symbol> changes_;
  uint64_t changes_begin_ = 0;  // the version before the first change in changes_
};

}  // namespace berth::scheduler
