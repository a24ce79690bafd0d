#include "pkg/scheduler/algorithm/noderesources/noderesources.h"
#include "pkg/scheduler/algorithm/noderesources/resource_allocation.h"

namespace berth::scheduler::noderesources {
namespace {

int64_t UnusedScore(int64_t requested, int64_t capacity) {
  if (capacity == 0 || requested > capacity) return 0;
  return TenTimesShare(WrappingSub(capacity, requested), capacity);
}

}  // namespace

PriorityFunction LeastRequested(const PluginFactoryArgs&) {
  return MakeAllocationPriority([](const Allocation& a) {
    return (UnusedScore(a.cpu_requested, a.cpu_capacity) + UnusedScore(a.memory_requested, a.memory_capacity)) / 2;
  });
}

}  // namespace berth::scheduler::noderesources
