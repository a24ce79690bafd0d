#include "pkg/scheduler/algorithm/noderesources/noderesources.h"
#include "pkg/scheduler/algorithm/noderesources/resource_allocation.h"

namespace berth::scheduler::noderesources {
namespace {

// MostRequestedPriority: the mean of requested * 10 / capacity for cpu and memory, with integer divisions.
// Surprisingly, a resource that would be exceeded scores 0, not the highest score. Source:
// pkg/scheduler/algorithm/priorities/most_requested.go (1.10).
int64_t UsedScore(int64_t requested, int64_t capacity) {
  if (capacity == 0 || requested > capacity) return 0;
  return TenTimesShare(requested, capacity);
}

}  // namespace

PriorityFunction MostRequested(const PluginFactoryArgs&) {
  return MakeAllocationPriority([](const Allocation& a) {
    return (UsedScore(a.cpu_requested, a.cpu_capacity) + UsedScore(a.memory_requested, a.memory_capacity)) / 2;
  });
}

}  // namespace berth::scheduler::noderesources
