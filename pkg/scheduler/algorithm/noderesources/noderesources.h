// Rules about what pods request and what nodes have to give. Each function is the factory of one rule of
// Kubernetes 1.10; the rule is in the .cc file that bears its name.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::noderesources {

// PodFitsResources: requests fit into what is allocatable and not yet requested; one more pod is allowed. A pod that
// requests nothing is checked for the number of pods only.
FitPredicate PodFitsResources(const PluginFactoryArgs&);

// LeastRequestedPriority: the larger the free share of cpu and memory, the better.
PriorityFunction LeastRequested(const PluginFactoryArgs&);

// MostRequestedPriority: the larger the used share, the better (bin packing, cluster autoscaling).
PriorityFunction MostRequested(const PluginFactoryArgs&);

// BalancedResourceAllocation: cpu and memory are used to a similar share.
PriorityFunction BalancedResourceAllocation(const PluginFactoryArgs&);

// ResourceLimitsPriority (gate ResourceLimitsPriorityFunction): 1 where the pod's limits fit the node's size.
PriorityFunction ResourceLimits(const PluginFactoryArgs&);

// A resource that a profile of 1.29 lists for scoring.
struct ResourceWeight {
  std::string name;
  int64_t weight = 1;
};

// What a profile says of NodeResourcesFit.
struct FitOptions {
  enum class Strategy : uint8_t { kLeastAllocated, kMostAllocated, kRequestedToCapacityRatio };
  std::vector<std::string> ignored_resources, ignored_resource_groups;  // extended resources that Filter passes over
  Strategy strategy = Strategy::kLeastAllocated;
  std::vector<ResourceWeight> resources = {{"cpu", 1}, {"memory", 1}};
  // Of RequestedToCapacityRatio: utilization in percent and score 0..max_score, ascending.
  std::vector<std::pair<int64_t, int64_t>> shape;
};

// NodeResourcesFit (1.29), Filter and Score.
FitPredicate Fit(const PluginFactoryArgs&, FitOptions options);
PriorityFunction FitScore(const PluginFactoryArgs&, FitOptions options);

// NodeResourcesBalancedAllocation (1.29): the listed resources are used to a similar share.
PriorityFunction BalancedAllocation(const PluginFactoryArgs&, std::vector<ResourceWeight> resources);

}  // namespace berth::scheduler::noderesources
