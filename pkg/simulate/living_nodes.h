// What the nodes of a simulated cluster with controllers offer.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <string>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/lab/metrics.h"

namespace berth::simulate {

class LivingNodes {
 public:
  // The workload must outlive the object.
  explicit LivingNodes(const lab::Workload& workload);

  // Takes what is seen of a node; null: it was not there, or is gone.
  void See(const api::NodePtr& before, const api::NodePtr& now);
  // A node has failed, or is back.
  void SetFailed(const std::string& name, bool failed);
  bool HasFailed(const std::string& name) const { return failed_.contains(name); }
  // Returns whether pods that are deleted on the node are evicted from it: it is gone, has failed, or has a taint that
  // evicts.
  bool IsLost(const std::string& name) const;
  // Returns what the nodes offer that are there and have not failed, by resource.
  const std::vector<double>& Offered() const { return offered_; }

 private:
  void Offer(const std::string& name, double by);

  const lab::Workload& workload_;
  absl::flat_hash_map<std::string, size_t> numbers_;  // in the workload
  absl::flat_hash_map<std::string, api::NodePtr> there_;
  absl::flat_hash_set<std::string> failed_;
  std::vector<double> offered_;
};

}  // namespace berth::simulate
