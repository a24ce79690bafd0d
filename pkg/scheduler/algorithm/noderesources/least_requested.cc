#include "pkg/scheduler/algorithm/noderesources/noderesources.h"
#include "pkg/scheduler/algorithm/noderesources/resource_allocation.h"

namespace berth::scheduler::noderesources {
namespace {

int64_t UnusedScore(int64_t requested, int64_t capacity) {
  if (capacity == 0 || requested > capacity) return 0;
  return TenTimesShare(WrappingSub(capacity, requested), capacity);
}

// LeastRequestedPriority: the mean of (capacity - requested) * 10 / capacity for cpu and memory, with integer divisions
// throughout. A resource that would be exceeded scores 0. Products may wrap at 64 bits, as upstream. Source:
// pkg/scheduler/algorithm/priorities/least_requested.go (1.10).
struct LeastRequestedScore {
  int64_t operator()(const Allocation& a) const {
    return (UnusedScore(a.cpu_requested, a.cpu_capacity) + UnusedScore(a.memory_requested, a.memory_capacity)) / 2;
  }
  int32_t Exact(double cpu_requested, double cpu_capacity, double memory_requested,
                double memory_capacity) const BERTH_LOOPS {
    auto unused = [](double requested, double capacity) BERTH_LOOPS {
      const double share = (capacity - requested) * 10 / capacity;
      return static_cast<int32_t>((requested > capacity) | (capacity == 0) ? 0 : share);
    };
    return (unused(cpu_requested, cpu_capacity) + unused(memory_requested, memory_capacity)) / 2;
  }
};

}  // namespace

PriorityFunction LeastRequested(const PluginFactoryArgs&) {
  return MakeAllocationPriority(LeastRequestedScore());
}

}  // namespace berth::scheduler::noderesources
