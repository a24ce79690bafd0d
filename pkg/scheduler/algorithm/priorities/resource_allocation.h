// What the resource priorities have in common: the pod's and the node's non-zero requests against what is allocatable.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::priorities {

struct Allocation {
  int64_t cpu_requested, cpu_capacity;        // milliCPU
  int64_t memory_requested, memory_capacity;  // bytes
};

// A priority that is a function of the Allocation alone. ScoreFn: int64_t(const Allocation&).
template <typename ScoreFn>
class AllocationScoring final : public Scoring {
 public:
  Scope scope() const override { return Scope::kRow; }
  ReduceKind reduce_kind() const override { return ReduceKind::kNone; }
  AllocationScoring(const PodContext& ctx, ScoreFn score) : ctx_(ctx), score_(score) {}
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    const Columns& c = ctx_.cache.columns();
    for (size_t i = 0; i < rows.size(); ++i) {
      Row r = rows[i];
      scores[i] = score_(Allocation{SaturatingAdd(ctx_.info.nonzero_milli_cpu, c.nonzero_cpu[r]), c.alloc_cpu[r],
                                    SaturatingAdd(ctx_.info.nonzero_memory, c.nonzero_memory[r]), c.alloc_memory[r]});
    }
    return absl::OkStatus();
  }

 private:
  PodContext ctx_;
  ScoreFn score_;
};

template <typename ScoreFn>
PriorityFunction MakeAllocationPriority(ScoreFn score) {
  return [score](const PodContext& ctx) { return std::make_unique<AllocationScoring<ScoreFn>>(ctx, score); };
}

// a * 10 wrapping at 64 bits, as Go's does.
inline int64_t TimesTen(int64_t a) { return static_cast<int64_t>(static_cast<uint64_t>(a) * 10u); }

}  // namespace berth::scheduler::priorities
