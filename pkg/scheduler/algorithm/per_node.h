// Rules written the plain way, one node at a time, as users of RegisterFitPredicate have always written them.
#pragma once
#include <absl/status/status.h>

#include <functional>
#include <string>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler {

// One node with what is on it (1.10 schedulercache.NodeInfo). A view: valid during the call only.
class NodeInfo {
 public:
  NodeInfo(const Cache& cache, Row row) : cache_(cache), row_(row) {}
  const api::Node* node() const { return cache_.row(row_).node.get(); }  // never null in predicates and priorities
  const std::vector<PlacedPod>& pods() const { return cache_.row(row_).pods; }
  const HostPorts& used_ports() const { return cache_.row(row_).ports; }
  Resource requested() const;        // milliCPU, bytes
  Resource nonzero_request() const;  // cpu and memory only
  const Resource& allocatable() const { return cache_.row(row_).allocatable; }
  const Cache& cache() const { return cache_; }
  Row row() const { return row_; }

 private:
  const Cache& cache_;
  Row row_;
};

struct PredicateResult {
  bool fit = true;
  std::vector<std::string> reasons;  // shown to users; a reason is made of the predicate's name when there is none
  std::string error;                 // not empty: nothing can be said about this pod, on any node
  bool unresolvable = false;         // removing pods from the node cannot help
};
using PerNodePredicate = std::function<PredicateResult(const api::Pod&, const NodeInfo&)>;
FitPredicate FromPerNode(std::string name, PerNodePredicate predicate);

// A score for one node: 0..10, or anything that the reduce function maps to that.
using PriorityMapFunction = std::function<absl::StatusOr<int64_t>(const api::Pod&, const NodeInfo&)>;
struct HostPriority {
  const api::Node* node;
  int64_t score;
};
// All feasible nodes at once, in place.
using PriorityReduceFunction = std::function<absl::Status(const api::Pod&, std::vector<HostPriority>*)>;
PriorityFunction FromMapReduce(PriorityMapFunction map, PriorityReduceFunction reduce = nullptr);

}  // namespace berth::scheduler
