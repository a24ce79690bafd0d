// Rates a set of placements: allocation, fragmentation and balance.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pkg/lab/scenario.h"
#include "pkg/scheduler/cache/cache.h"

namespace berth::lab {

// The nodes of a cluster and the pods that arrive, reduced to numbers. It is built once for an input and shared by all
// runs over it. Thread-safety: immutable, so threads may share it.
class Workload {
 public:
  explicit Workload(const Scenario& scenario);

  // Returns "cpu" (milliCPU), "memory" (bytes), "pods", and then the other resources that some node offers, by name.
  const std::vector<std::string>& resources() const { return resources_; }
  size_t node_count() const { return nodes_.size(); }
  const std::vector<scheduler::Symbol>& node_names() const { return names_; }
  const std::vector<std::string>& zones() const { return zones_; }  // distinct, sorted
  size_t zone_of(size_t node) const { return zone_of_[node]; }      // index into zones()
  int64_t allocatable(size_t node, size_t r) const { return allocatable_[node * resources_.size() + r]; }
  double total(size_t r) const { return total_[r]; }
  // Returns what the i-th pending pod requests, by resource.
  const std::vector<int64_t>& request(size_t pending) const { return classes_[class_of_[pending]].request; }
  // Returns what a pod of the template requests, by resource.
  std::vector<int64_t> RequestOf(const api::PodTemplate& tmpl) const;
  // Returns the resource of which the pending pods request the largest share of what the nodes offer. It is never
  // "pods".
  size_t scarcest() const { return scarcest_; }

  // Returns what is free on each node: element node * resources().size() + resource. A node that is not in the cache
  // has nothing free.
  std::vector<int64_t> Free(const scheduler::Cache& cache) const;

  // Returns, for each resource, the share of what is free that a random pending pod cannot use, because it does not
  // request the resource or because its requests, node selector, required node affinity or tolerations exclude the
  // node. 0 if nothing is free. Source: Weng et al., "Beware of Fragmentation" (USENIX ATC 2023), for whole nodes.
  std::vector<double> Fragmentation(const std::vector<int64_t>& free) const;

  // Returns how many nodes are enough for all pods that have a node in the cache if they are packed from scratch: the
  // largest first, each onto the first node that accepts it. Requests, node selectors, required node affinity and
  // taints are respected; rules about other pods are not. The result is an upper bound of the minimum.
  size_t Compaction(const scheduler::Cache& cache) const;

 private:
  // Pods with the same requests and the same admissible nodes.
  struct Class {
    std::vector<int64_t> request;
    uint32_t mask = 0;    // index into masks_
    int64_t pending = 0;  // number of pending pods
  };
  // Returns the index of the pod's class, or of the mask of its admissible nodes; creates it if necessary.
  uint32_t ClassOf(const api::PodTemplate& tmpl);
  uint32_t MaskOf(const api::PodTemplate& tmpl);
  // Returns whether a pod of the class fits the node with these free amounts.
  bool Fits(const Class& c, size_t node, const int64_t* free) const;

  std::vector<std::string> resources_;
  std::vector<api::NodePtr> nodes_;
  std::vector<scheduler::Symbol> names_;
  std::vector<std::string> zones_;
  std::vector<size_t> zone_of_;
  std::vector<int64_t> allocatable_;
  std::vector<double> total_;
  std::vector<Class> classes_;
  std::vector<uint32_t> class_of_;  // by pending pod: index into classes_
  std::map<const api::PodTemplate*, uint32_t> class_by_template_;
  std::map<std::pair<std::vector<int64_t>, uint32_t>, uint32_t> class_by_content_;
  std::vector<std::vector<bool>> masks_;  // by mask and node: whether selectors, affinity and taints admit the node
  std::map<std::string, uint32_t> mask_by_text_;
  std::vector<std::shared_ptr<const api::PodTemplate>> kept_;  // keeps the keys of class_by_template_ alive
  size_t scarcest_ = 0;
};

// The rating of one set of placements. Shares are from 0 to 1.
struct Metrics {
  int64_t placed = 0, pending = 0;
  std::map<std::string, int64_t> pending_by_reason;  // by the reason of most nodes
  std::vector<double> allocation;                    // used share, by Workload::resources()
  std::vector<double> fragmentation;                 // by Workload::resources()
  double imbalance = 0;  // standard deviation of the used share over the nodes, mean of cpu and memory
  double zone_skew = 0;  // difference of the largest and the smallest used share of cpu of a zone
  int64_t nodes_in_use = 0;
  int64_t compaction = 0;   // 0 if it was not computed
  int64_t preemptions = 0;  // pods for which a preemption was found
};

// Computes all members but placed, pending, pending_by_reason and preemptions.
void MeasureCluster(const Workload& workload, const scheduler::Cache& cache, bool with_compaction, Metrics* metrics);

}  // namespace berth::lab
