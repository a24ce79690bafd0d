// Rules about what pods request and what nodes can allocate. Each function is the factory of one rule, which is
// implemented in a .cc file of this folder.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/queue/cluster_event.h"

namespace berth::scheduler::noderesources {

// PodFitsResources (1.10): the requests fit into the part of the allocatable amounts that is not yet requested, and the
// node may have one more pod. If a pod requests nothing, only the number of pods is checked.
FitPredicate PodFitsResources(const PluginFactoryArgs&);

// The Filter of NodeResourcesFit (1.19): the same rule. Extended resources are ignored if they are in the list, belong
// to a listed group, or are managed by an extender that wants them ignored.
FitPredicate FitEveryResource(const PluginFactoryArgs&, const std::vector<std::string>& ignored_resources,
                              const std::vector<std::string>& ignored_resource_groups);

// LeastRequestedPriority (1.10): the larger the fraction of cpu and memory that stays free, the better.
PriorityFunction LeastRequested(const PluginFactoryArgs&);

// MostRequestedPriority (1.10): the larger the fraction in use, the better. Packs pods tightly, for cluster
// autoscaling.
PriorityFunction MostRequested(const PluginFactoryArgs&);

// BalancedResourceAllocation (1.10): the closer the used fractions of cpu and memory are, the better.
PriorityFunction BalancedResourceAllocation(const PluginFactoryArgs&);

// The same with gate BalanceAttachedNodeVolumes (1.11 and later): for a pod with cloud disks, the smaller the variance
// of the used fractions of cpu, memory and attachable volumes, the better.
PriorityFunction BalancedResourceAllocationWithVolumes(const PluginFactoryArgs&);

// ResourceLimitsPriority (1.10, gate ResourceLimitsPriorityFunction): 1 if the node's allocatable cpu or memory is at
// least the limit of the pod, otherwise 0.
PriorityFunction ResourceLimits(const PluginFactoryArgs&);

// A resource and its weight in a score, from the arguments of a 1.29 profile.
struct ResourceWeight {
  std::string name;
  int64_t weight = 1;
};

// The NodeResourcesFitArgs of a profile (1.29).
struct FitOptions {
  enum class Strategy : uint8_t { kLeastAllocated, kMostAllocated, kRequestedToCapacityRatio };
  std::vector<std::string> ignored_resources, ignored_resource_groups;  // extended resources that Filter ignores
  Strategy strategy = Strategy::kLeastAllocated;
  std::vector<ResourceWeight> resources = {{"cpu", 1}, {"memory", 1}};
  // For RequestedToCapacityRatio only: (utilization in percent, score in 0..max_score), in ascending order of
  // utilization.
  std::vector<std::pair<int64_t, int64_t>> shape;
  // Whether resources that the pod does not request and those that the node lacks count in scores, too (1.19).
  bool every_resource_counts = false;
  // For RequestedToCapacityRatio only: whether a utilization that is no whole number is rounded up (up to 1.21).
  bool rounds_utilization_up = false;
  // Whether a request for more than the node has in all is a reason that evictions cannot change (1.36).
  bool too_small_is_final = false;
};

// The Filter and the Score of NodeResourcesFit (1.29).
FitPredicate Fit(const PluginFactoryArgs&, FitOptions options);
PriorityFunction FitScore(const PluginFactoryArgs&, FitOptions options);

// The hint of NodeResourcesFit (1.36): a node is new, or has more of what the pod requests or room for more pods, and
// the pod fits it while it is empty; a pod is gone; a bound pod needs less of what the pod requests, or the pod itself
// needs less; a class of devices stands for a resource that it requests.
QueueingHint RoomMade(FitOptions options);

// NodeResourcesBalancedAllocation (1.29): the closer the used fractions of the listed resources are, the better.
PriorityFunction BalancedAllocation(const PluginFactoryArgs&, std::vector<ResourceWeight> resources);
// NodeResourcesBalancedAllocation (1.34): the more the pod improves the balance of the node, the better. Skips pods
// that request nothing of the listed resources.
PriorityFunction ImprovedBalance(const PluginFactoryArgs&, std::vector<ResourceWeight> resources);

}  // namespace berth::scheduler::noderesources
