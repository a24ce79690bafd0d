// Changes a cluster at random between decisions, as controllers, kubelets and people do.
#pragma once
#include <cstdint>
#include <random>
#include <vector>

#include "pkg/lab/simulation.h"

namespace berth::churn {

// Not thread-safe. The same seed, cluster and calls give the same changes.
class ClusterChanges {
 public:
  // Changes the cache of `simulation`, which must outlive the object.
  ClusterChanges(lab::Simulation* simulation, uint64_t seed);

  // Makes one change: a node gets the labels, the taints or the amounts of another one, is cordoned, uncordoned,
  // removed or added again; or a bound pod ends, or comes back on another node.
  void MakeOne();
  // Takes note of a pod that is bound from now on, and counts it in the cache as confirmed.
  void Bound(const api::PodPtr& pod);

 private:
  size_t Below(size_t limit) { return random_() % limit; }
  void ChangeNode();
  void RemoveOrAddNode();
  void EndOrStartPod();

  scheduler::Cache& cache_;
  std::mt19937_64 random_;
  std::vector<api::NodePtr> nodes_, gone_;
  std::vector<api::PodPtr> bound_, ended_;
};

}  // namespace berth::churn
