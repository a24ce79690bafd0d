// The configuration of one scheduler: its predicates, priorities and extenders, ready to be called. Made by the
// factory.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/extender/extender.h"
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

struct AlgorithmConfig {
  std::vector<ConfiguredPredicate> predicates;  // in the order of evaluation
  // The order in which predicates may reject a pod as a whole, as indexes in `predicates`. Empty stands for the order
  // of evaluation.
  std::vector<size_t> preparation_order;
  std::vector<ConfiguredPriority> priorities;  // in ascending order of names
  std::vector<std::unique_ptr<Extender>> extenders;
  PluginFactoryArgs args;
  bool always_check_all_predicates = false;
  const Release* release = nullptr;  // never null in a scheduler
  NodeSampler* sampler = nullptr;    // null: every decision looks at all nodes; outlives the scheduler

  // Returns the names of the rules whose answers the incremental scheduler cannot keep between decisions. A composite
  // predicate is represented by its parts.
  std::vector<std::string> NotIncremental() const;
};

}  // namespace berth::scheduler
