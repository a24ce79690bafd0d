// Adapters for rules that are written for one node at a time, as users of RegisterFitPredicate have always written
// them.
#pragma once
#include <absl/status/status.h>

#include <functional>
#include <string>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler {

// A node with the pods on it, like schedulercache.NodeInfo of 1.10. It is a view and valid only during the call.
class NodeInfo {
 public:
  NodeInfo(const Cache& cache, Row row) : cache_(cache), row_(row) {}
  const api::Node* node() const { return cache_.row(row_).node.get(); }  // not null when a rule is called
  const std::vector<PlacedPod>& pods() const { return cache_.row(row_).pods; }
  Resource requested() const;        // milliCPU and bytes; without defaults for missing requests
  Resource nonzero_request() const;  // cpu and memory only; containers without a request count with the defaults
  Resource allocatable() const;
  const Cache& cache() const { return cache_; }
  Row row() const { return row_; }

 private:
  const Cache& cache_;
  Row row_;
};

// The answer of a predicate for one node.
struct PredicateResult {
  bool fit = true;
  std::vector<std::string> reasons;  // shown to users; if empty, a reason is made from the predicate's name
  std::string error;                 // if not empty, the pod cannot be judged and its scheduling attempt fails
  bool unresolvable = false;         // whether removing pods from the node can never help
};
using PerNodePredicate = std::function<PredicateResult(const api::Pod&, const NodeInfo&)>;
// Returns a predicate in prepared form that calls `predicate` for each node. `name` appears in the reason of a node for
// which the predicate returns none.
FitPredicate FromPerNode(std::string name, PerNodePredicate predicate);

// Returns the score of one node: 0..max_score of the release, or anything that the reduce function converts to that
// range.
using PriorityMapFunction = std::function<absl::StatusOr<int64_t>(const api::Pod&, const NodeInfo&)>;
struct HostPriority {
  const api::Node* node;
  int64_t score;
};
// Converts the scores of all feasible nodes in place. It must not change the length of the list.
using PriorityReduceFunction = std::function<absl::Status(const api::Pod&, std::vector<HostPriority>*)>;
// Returns a priority in prepared form that calls `map` for each node and then `reduce`, if there is one, for all of
// them.
PriorityFunction FromMapReduce(PriorityMapFunction map, PriorityReduceFunction reduce = nullptr);

}  // namespace berth::scheduler
