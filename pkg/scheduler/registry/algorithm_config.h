// Everything that a scheduler was built of; made by the factory.
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
  // The predicates that this one is made of, when it is a composite: it holds where all of them do.
  std::vector<ConfiguredPredicate> parts;
};
struct ConfiguredPriority {
  std::string name;
  PriorityFunction function;
  int64_t weight = 1;
  Traits traits;
};

struct AlgorithmConfig {
  std::vector<ConfiguredPredicate> predicates;  // in the order of evaluation
  // The order in which predicates may reject a pod as a whole, as places in `predicates`; empty: that of evaluation.
  std::vector<size_t> preparation_order;
  std::vector<ConfiguredPriority> priorities;  // by name
  std::vector<std::unique_ptr<Extender>> extenders;
  PluginFactoryArgs args;
  bool always_check_all_predicates = false;
  const Release* release = nullptr;  // never null in a scheduler

  // Returns the names of the rules whose answers cannot be kept between decisions.
  std::vector<std::string> NotIncremental() const;
};

}  // namespace berth::scheduler
