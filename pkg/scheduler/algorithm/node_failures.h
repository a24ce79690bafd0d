// The nodes that do not fit a pod, with the reasons for each.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler {

// Records which nodes failed and why. Most nodes fail for the same few reasons, so each distinct list of reasons is
// stored once and nodes refer to it by index.
class NodeFailures {
 public:
  // Adds a failed node. Add appends to the reasons of a node that is already there; AddNew REQUIRES that it is not.
  void Add(Symbol node, const std::vector<FailureReason>& reasons);
  void AddNew(Symbol node, const std::vector<FailureReason>& reasons);
  // Adding many nodes that share few lists of reasons takes two steps: ListOf returns the index of a list.
  uint32_t ListOf(const std::vector<FailureReason>& reasons);
  // Then AddNew adds `count` nodes; entry(i) returns the i-th of them and the index of its list, and may call ListOf.
  // REQUIRES: none of them is there yet.
  template <typename Entry>
  void AddNew(size_t count, Entry entry) {
    const size_t before = nodes_.size();
    nodes_.resize(before + count);
    for (size_t i = 0; i < count; ++i) {
      const std::pair<Symbol, uint32_t> added = entry(i);
      nodes_[before + i] = added;
      ++nodes_of_list_[added.second];
    }
  }
  // Counts `nodes` failed nodes in what is reported by list and by reason. They are not in ForEach and Find.
  void CountUnnamed(const std::vector<FailureReason>& reasons, int64_t nodes) {
    const uint32_t list = ListOf(reasons);
    nodes_of_list_[list] += nodes;
    unnamed_ += static_cast<size_t>(nodes);
  }
  void Reserve(size_t nodes) { nodes_.reserve(nodes); }
  size_t size() const { return nodes_.size() + unnamed_; }
  const std::vector<FailureReason>* Find(Symbol node) const;  // null if the node has not failed
  // Returns the reasons of the i-th node in the order of ForEach. REQUIRES: there is one.
  const std::vector<FailureReason>& ReasonsAt(size_t i) const { return *lists_[nodes_[i].second]; }
  template <typename F>
  void ForEach(F f) const {
    for (const auto& [node, list] : nodes_) f(node, *lists_[list]);
  }
  // Calls f(reasons, number of nodes) for each list of reasons that at least one node has.
  template <typename F>
  void ForEachList(F f) const {
    for (size_t i = 0; i < lists_.size(); ++i) {
      if (nodes_of_list_[i] > 0) f(*lists_[i], nodes_of_list_[i]);
    }
  }
  // Returns the rules that gave reasons, each once, in the order in which they were met.
  std::vector<Symbol> Rules() const;
  // Returns how many nodes each reason was given for, as (text, number), sorted by text.
  std::vector<std::pair<std::string, int64_t>> Histogram() const;
  // Returns one entry for each reason, such as "2 Insufficient cpu", sorted as strings: "10 ..." comes before "2 ...".
  std::vector<std::string> CountedReasons() const;

 private:
  // Brings index_ up to date. Invariant: index_ covers the first index_.size() elements of nodes_.
  void Index() const;
  std::vector<std::pair<Symbol, uint32_t>> nodes_;  // the node and the index of its list of reasons
  std::map<std::vector<FailureReason>, uint32_t> list_index_;
  std::vector<const std::vector<FailureReason>*> lists_;  // by index; each points to a key of list_index_
  std::vector<int64_t> nodes_of_list_;                    // by index: how many nodes have the list
  size_t unnamed_ = 0;                                    // nodes that CountUnnamed counted
  uint32_t last_list_ = 0;                                // the list that ListOf returned last
  mutable absl::flat_hash_map<Symbol, uint32_t> index_;   // node to index into nodes_; filled on demand
};

}  // namespace berth::scheduler
