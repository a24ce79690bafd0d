#include <cmath>

#include "pkg/scheduler/algorithm/noderesources/noderesources.h"
#include "pkg/scheduler/algorithm/noderesources/resource_allocation.h"

namespace berth::scheduler::noderesources {
namespace {

// Returns the fraction of the capacity that is requested. A node without capacity counts as fully used.
double Fraction(int64_t requested, int64_t capacity) {
  return capacity == 0 ? 1.0 : static_cast<double>(requested) / static_cast<double>(capacity);
}

// BalancedResourceAllocation: (1 - |cpu fraction - memory fraction|) times the highest score. A node that would be full
// in one of the resources scores 0. Truncating the double loses a point for some values: with fractions 0.8 and 0.1,
// the score is 2 instead of 3 (bug B-23, kept). Source:
// pkg/scheduler/algorithm/priorities/balanced_resource_allocation.go (1.10).
struct BalancedScore {
  double max_score;

  int64_t operator()(const Allocation& a) const {
    const double cpu = Fraction(a.cpu_requested, a.cpu_capacity);
    const double memory = Fraction(a.memory_requested, a.memory_capacity);
    if (cpu >= 1 || memory >= 1) return 0;
    return static_cast<int64_t>((1 - std::fabs(cpu - memory)) * max_score);
  }
  int32_t Exact(double cpu_requested, double cpu_capacity, double memory_requested,
                double memory_capacity) const BERTH_LOOPS {
    // Without capacity, the fraction is infinite or NaN, and neither is below 1.
    const double cpu = cpu_requested / cpu_capacity, memory = memory_requested / memory_capacity;
    const double score = (1 - std::fabs(cpu - memory)) * max_score;
    return static_cast<int32_t>((cpu < 1) & (memory < 1) ? score : 0);
  }
};

}  // namespace

PriorityFunction BalancedResourceAllocation(const PluginFactoryArgs& args) {
  return MakeAllocationPriority(BalancedScore{static_cast<double>(args.max_score)});
}

}  // namespace berth::scheduler::noderesources
