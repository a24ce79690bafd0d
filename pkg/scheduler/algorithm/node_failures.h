// The nodes that did not fit a pod, with the reasons of each.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler {

// Which nodes failed and why. Lists of reasons that repeat are kept once.
class NodeFailures {
 public:
  void Add(Symbol node, const std::vector<FailureReason>& reasons);     // appended when the node is already there
  void AddNew(Symbol node, const std::vector<FailureReason>& reasons);  // the node is not there yet
  // The same in two steps, for many nodes with the same reasons: ListOf returns the number of a list.
  uint32_t ListOf(const std::vector<FailureReason>& reasons);
  // node(i) is the i-th of `count` nodes.
  template <typename Node>
  void AddNew(size_t count, Node node, uint32_t list) {
    const size_t before = nodes_.size();
    nodes_.resize(before + count);
    for (size_t i = 0; i < count; ++i) nodes_[before + i] = {node(i), list};
    nodes_of_list_[list] += static_cast<int64_t>(count);
  }
  void Reserve(size_t nodes) { nodes_.reserve(nodes); }
  size_t size() const { return nodes_.size(); }
  const std::vector<FailureReason>* Find(Symbol node) const;  // null: the node is not among the failed
  template <typename F>
  void ForEach(F f) const {
    for (const auto& [node, list] : nodes_) f(node, *lists_[list]);
  }
  // Calls f(reasons, nodes) for each list of reasons that some node has.
  template <typename F>
  void ForEachList(F f) const {
    for (size_t i = 0; i < lists_.size(); ++i) {
      if (nodes_of_list_[i] > 0) f(*lists_[i], nodes_of_list_[i]);
    }
  }
  // How often each reason was given, by text.
  std::vector<std::pair<std::string, int64_t>> Histogram() const;
  // Returns one entry for each reason, "2 Insufficient cpu", sorted as texts.
  std::vector<std::string> CountedReasons() const;

 private:
  void Index() const;
  std::vector<std::pair<Symbol, uint32_t>> nodes_;  // and the number of the list
  std::map<std::vector<FailureReason>, uint32_t> list_index_;
  std::vector<const std::vector<FailureReason>*> lists_;  // keys of list_index_
  std::vector<int64_t> nodes_of_list_;                    // by number
  uint32_t last_list_ = 0;                                // used last
  mutable absl::flat_hash_map<Symbol, uint32_t> index_;   // of the first nodes, filled on demand
};

}  // namespace berth::scheduler
