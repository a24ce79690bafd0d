// What a set of placements is worth: allocation, fragmentation, balance.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pkg/lab/scenario.h"
#include "pkg/scheduler/cache/cache.h"

namespace berth::lab {

// The nodes of a cluster and the kinds of pods that come to it, as numbers. Made once for an input and then shared by
// all runs over it; immutable, so threads may share it.
class Workload {
 public:
  explicit Workload(const Scenario& scenario);

  // "cpu" (milliCPU), "memory" (bytes), "pods", then the other resources that some node offers, by name.
  const std::vector<std::string>& resources() const { return resources_; }
  size_t node_count() const { return nodes_.size(); }
  const std::vector<scheduler::Symbol>& node_names() const { return names_; }
  const std::vector<std::string>& zones() const { return zones_; }  // distinct, sorted
  size_t zone_of(size_t node) const { return zone_of_[node]; }      // an index of zones()
  int64_t allocatable(size_t node, size_t r) const { return allocatable_[node * resources_.size() + r]; }
  double total(size_t r) const { return total_[r]; }
  // Returns what the i-th pending pod requests.
  const std::vector<int64_t>& request(size_t pending) const { return classes_[class_of_[pending]].request; }
  // The resource of which the pending pods ask for the largest share of what the nodes offer; never "pods".
  size_t scarcest() const { return scarcest_; }

  // What is free on each node, by node and resource.
  std::vector<int64_t> Free(const scheduler::Cache& cache) const;

  // For each resource the share of what is free that a pod drawn at random from the pending ones cannot use: because
  // it does not ask for the resource, or because its requests, node selector, required node affinity or tolerations
  // keep it off the node. After Weng et al., "Beware of Fragmentation" (USENIX ATC 2023), for whole nodes.
  // 0 where nothing is free.
  std::vector<double> Fragmentation(const std::vector<int64_t>& free) const;

  // How many nodes are enough for all pods that have a node in the cache, when they are packed anew, the largest
  // first, each onto the first node that takes it. Requests, node selectors, required node affinity and taints are
  // heeded; what depends on other pods is not. An upper bound of the fewest.
  size_t Compaction(const scheduler::Cache& cache) const;

 private:
  struct Class {
    std::vector<int64_t> request;
    uint32_t mask = 0;  // of masks_
    int64_t pending = 0;
  };
  uint32_t ClassOf(const api::PodTemplate& tmpl);
  uint32_t MaskOf(const api::PodTemplate& tmpl);
  bool Fits(const Class& c, size_t node, const int64_t* free) const;

  std::vector<std::string> resources_;
  std::vector<api::NodePtr> nodes_;
  std::vector<scheduler::Symbol> names_;
  std::vector<std::string> zones_;
  std::vector<size_t> zone_of_;
  std::vector<int64_t> allocatable_;
  std::vector<double> total_;
  std::vector<Class> classes_;
  std::vector<uint32_t> class_of_;  // by pending pod
  std::map<const api::PodTemplate*, uint32_t> class_by_template_;
  std::map<std::pair<std::vector<int64_t>, uint32_t>, uint32_t> class_by_content_;
  std::vector<std::vector<bool>> masks_;  // by node: what selectors, affinity and taints admit
  std::map<std::string, uint32_t> mask_by_text_;
  std::vector<std::shared_ptr<const api::PodTemplate>> kept_;  // whose pointers the maps use
  size_t scarcest_ = 0;
};

struct Metrics {
  int64_t placed = 0, pending = 0;
  std::map<std::string, int64_t> pending_by_reason;  // by the reason that most nodes gave
  std::vector<double> allocation;                    // used share, by Workload::resources()
  std::vector<double> fragmentation;                 // by Workload::resources()
  double imbalance = 0;  // standard deviation over the nodes of the used share, mean of cpu and memory
  double zone_skew = 0;  // largest minus smallest used share of cpu over the zones
  int64_t nodes_in_use = 0;
  int64_t compaction = 0;   // 0 when it was not computed
  int64_t preemptions = 0;  // pods for which a preemption was found
};

// Everything but placed, pending, reasons and preemptions.
void MeasureCluster(const Workload& workload, const scheduler::Cache& cache, bool with_compaction, Metrics* metrics);

}  // namespace berth::lab
