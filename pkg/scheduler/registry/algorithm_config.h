// The configuration of one scheduler: its predicates, priorities and extenders, ready to be called. Made by the
// factory.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/extender/extender.h"
#include "pkg/scheduler/queue/cluster_event.h"
#include "pkg/scheduler/registry/release.h"

namespace berth::scheduler {

struct ConfiguredPredicate {
  std::string name;
  FitPredicate predicate;
  Traits traits;
  // For a composite predicate, its parts: it holds where all of them hold. Empty for any other predicate.
  std::vector<ConfiguredPredicate> parts;
};
struct ConfiguredPriority {
  std::string name;
  PriorityFunction function;
  int64_t weight = 1;
  Traits traits;
};

class NodeSampler;

// What two pods must share to be placed in one batch, because a plugin of the profile reads it.
struct BatchParts {
  bool tolerations = false, node_name = false, node_affinity = false, host_ports = false, requests = false,
       volumes = false, images = false, labels = false, features = false;
  // Pods with these are never placed in batches.
  bool no_spread = false, no_pod_affinity = false, no_claims = false;
};

struct AlgorithmConfig {
  std::vector<ConfiguredPredicate> predicates;  // in the order of evaluation
  // The order in which predicates may reject a pod as a whole, as indexes in `predicates`. Empty stands for the order
  // of evaluation.
  std::vector<size_t> preparation_order;
  std::vector<ConfiguredPriority> priorities;  // in ascending order of names
  std::vector<std::unique_ptr<Extender>> extenders;
  PluginFactoryArgs args;
  bool always_check_all_predicates = false;
  // For a release that is configured by profiles: the plugins that are called before all nodes are filtered, and those
  // that are called when no node fits, in their order.
  std::vector<std::string> pre_filters, post_filters;
  // Whether anything is done for a pod that fits nowhere. False for a profile without a plugin for that.
  bool preempts = true;
  // Whether all decisions are made by calling the predicates in their order: one of them fails wherever it is reached.
  bool always_in_order = false;
  std::map<Symbol, QueueingHint> hints;  // by name of predicate
  // Whether pods with scheduling gates are tried all the same, because the profile lacks the plugin that holds them.
  bool passes_gates = false;
  std::optional<BatchParts> batch;   // set if pods may be placed in batches
  bool reads_owners = true;          // whether a rule reads ReplicationControllers, ReplicaSets and StatefulSets
  bool counts_batches = false;       // whether it is counted what became of them, also if no pod may be
  const Release* release = nullptr;  // never null in a scheduler
  NodeSampler* sampler = nullptr;    // null: every decision looks at all nodes; outlives the scheduler
  size_t enough_nodes = 0;           // with a sampler: how many nodes end the search; 0: as its percentage says

  // Returns the names of the rules whose answers the incremental scheduler cannot keep between decisions. A composite
  // predicate is represented by its parts.
  std::vector<std::string> NotIncremental() const;
};

}  // namespace berth::scheduler
