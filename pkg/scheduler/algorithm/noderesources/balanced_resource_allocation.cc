#include <cmath>

#include "pkg/scheduler/algorithm/noderesources/noderesources.h"
#include "pkg/scheduler/algorithm/noderesources/resource_allocation.h"
#include "pkg/scheduler/algorithm/volumes/disk_room.h"

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

// Source: balancedResourceScorer in pkg/scheduler/algorithm/priorities/balanced_resource_allocation.go (1.13).
class BalancedWithVolumes final : public Scoring {
 public:
  BalancedWithVolumes(const PodContext& ctx, const volumes::DiskRoomRule& rule, double max_score)
      : ctx_(ctx), rule_(rule), plain_{max_score} {}
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    const Columns& c = ctx_.cache.columns();
    const std::vector<volumes::DiskRoom> room = rule_.On(ctx_, rows);
    for (size_t i = 0; i < rows.size(); ++i) {
      const Row r = rows[i];
      const Allocation a{SaturatingAdd(ctx_.info.nonzero_milli_cpu, c.nonzero_cpu[r]), c.alloc_cpu[r],
                         SaturatingAdd(ctx_.info.nonzero_memory, c.nonzero_memory[r]), c.alloc_memory[r]};
      scores[i] = room[i].allocatable > 0 ? ScoreOfThree(a, room[i]) : plain_(a);
    }
    return absl::OkStatus();
  }

 private:
  int64_t ScoreOfThree(const Allocation& a, const volumes::DiskRoom& room) const {
    const double cpu = Fraction(a.cpu_requested, a.cpu_capacity);
    const double memory = Fraction(a.memory_requested, a.memory_capacity);
    const double disks = static_cast<double>(room.requested) / static_cast<double>(room.allocatable);
    if (cpu >= 1 || memory >= 1 || disks >= 1) return 0;
    const double mean = (cpu + memory + disks) / 3;
    const double variance =
        (((cpu - mean) * (cpu - mean)) + ((memory - mean) * (memory - mean)) + ((disks - mean) * (disks - mean))) / 3;
    return static_cast<int64_t>((1 - variance) * plain_.max_score);
  }

  PodContext ctx_;
  const volumes::DiskRoomRule& rule_;
  BalancedScore plain_;
};

}  // namespace

PriorityFunction BalancedResourceAllocationWithVolumes(const PluginFactoryArgs& args) {
  auto rule = std::make_shared<const volumes::DiskRoomRule>(args);
  return [rule, max = static_cast<double>(args.max_score)](const PodContext& ctx) {
    return std::make_unique<BalancedWithVolumes>(ctx, *rule, max);
  };
}

PriorityFunction BalancedResourceAllocation(const PluginFactoryArgs& args) {
  return MakeAllocationPriority(BalancedScore{static_cast<double>(args.max_score)});
}

}  // namespace berth::scheduler::noderesources
