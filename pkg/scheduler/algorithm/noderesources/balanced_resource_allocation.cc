#include <cmath>

#include "pkg/scheduler/algorithm/noderesources/noderesources.h"
#include "pkg/scheduler/algorithm/noderesources/resource_allocation.h"

namespace berth::scheduler::noderesources {
namespace {

double Fraction(int64_t requested, int64_t capacity) {
  return capacity == 0 ? 1.0 : static_cast<double>(requested) / static_cast<double>(capacity);
}

}  // namespace

PriorityFunction BalancedResourceAllocation(const PluginFactoryArgs& args) {
  return MakeAllocationPriority([max = static_cast<double>(args.max_score)](const Allocation& a) -> int64_t {
    double cpu = Fraction(a.cpu_requested, a.cpu_capacity);
    double memory = Fraction(a.memory_requested, a.memory_capacity);
    if (cpu >= 1 || memory >= 1) return 0;
    double difference = std::fabs(cpu - memory);
    return static_cast<int64_t>((1 - difference) * max);
  });
}

}  // namespace berth::scheduler::noderesources
