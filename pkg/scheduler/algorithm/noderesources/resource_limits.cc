#include "pkg/scheduler/algorithm/noderesources/noderesources.h"

namespace berth::scheduler::noderesources {
namespace {

// ResourceLimitsPriority: 1 if the cpu or the memory limit of the pod is at most what the node can allocate, otherwise
// 0. What the node's pods already use is ignored. A resource without a limit does not count as satisfied. Source:
// pkg/scheduler/algorithm/priorities/resource_limits.go (1.10).
class LimitsScoring final : public Scoring {
 public:
  explicit LimitsScoring(const PodContext& ctx) : ctx_(ctx) {}
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    const Columns& c = ctx_.cache.columns();
    const Resource& limits = ctx_.info.limits;
    auto satisfied = [](int64_t limit, int64_t allocatable) {
      return limit != 0 && allocatable != 0 && limit <= allocatable;
    };
    for (size_t i = 0; i < rows.size(); ++i) {
      scores[i] =
          satisfied(limits.milli_cpu, c.alloc_cpu[rows[i]]) || satisfied(limits.memory, c.alloc_memory[rows[i]]);
    }
    return absl::OkStatus();
  }

 private:
  PodContext ctx_;
};

}  // namespace

PriorityFunction ResourceLimits(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) { return std::make_unique<LimitsScoring>(ctx); };
}

}  // namespace berth::scheduler::noderesources
