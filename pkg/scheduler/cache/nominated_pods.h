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
  bool Has(const api::Pod& pod) const { return node_of_.contains(pod.meta.uid); }
  // Grows by one with each node whose pods change.
  uint64_t version() const { return changes_begin_ + changes_.size(); }
  // Calls f(node) for each change after the given version, oldest first; nodes may repeat. Returns false, without a
  // call, when one of them is not remembered any more.
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
  uint64_t changes_begin_ = 0;  // version before the first of changes_
};

}  // namespace berth::scheduler
