// Shared by the resource priorities of 1.10, of which 1.19 still has one. They compare the requests of the pod and of
// the node's pods, with the defaults for containers that request nothing, to the allocatable amounts. Source:
// pkg/scheduler/algorithm/priorities/resource_allocation.go (1.10).
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/algorithm/noderesources/row_block.h"
#include "pkg/util/contract.h"

namespace berth::scheduler::noderesources {

// The amounts of one node, as they would be with the pod on it.
struct Allocation {
  int64_t cpu_requested, cpu_capacity;        // milliCPU
  int64_t memory_requested, memory_capacity;  // bytes
};

// A priority whose score depends on the Allocation alone. ScoreFn is int64_t(const Allocation&). It may also have a
// member int32_t Exact(double cpu_requested, double cpu_capacity, double memory_requested, double memory_capacity)
// const BERTH_LOOPS, which must return the same score and must be free of branches. Exact is called for amounts that
// doubles represent exactly.
template <typename ScoreFn>
class AllocationScoring final : public Scoring {
 public:
  AllocationScoring(const PodContext& ctx, ScoreFn score) : ctx_(ctx), score_(score) {}
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    if constexpr (requires { score_.Exact(0.0, 0.0, 0.0, 0.0); }) {
      if (rows.size() > kFewRows) {
        ForBlocks(rows, [&](const RowBlock& block, size_t at) {
          if (!MapBlock(block, &scores[at])) MapRows(rows.subspan(at, block.rows()), &scores[at]);
        });
        return absl::OkStatus();
      }
    }
    MapRows(rows, scores.data());
    return absl::OkStatus();
  }

 private:
  // Scores the rows one at a time, with any amounts.
  void MapRows(std::span<const Row> rows, int64_t* scores) const {
    const Columns& c = ctx_.cache.columns();
    for (size_t i = 0; i < rows.size(); ++i) {
      Row r = rows[i];
      scores[i] = score_(Allocation{SaturatingAdd(ctx_.info.incoming_milli_cpu, c.nonzero_cpu[r]), c.alloc_cpu[r],
                                    SaturatingAdd(ctx_.info.incoming_memory, c.nonzero_memory[r]), c.alloc_memory[r]});
    }
  }
  // Scores a block of rows with Exact. Returns false, and writes nothing, if an amount is negative or too large.
  bool MapBlock(const RowBlock& block, int64_t* scores) const {
    const Columns& c = ctx_.cache.columns();
    RowBlock::Amounts buffers[4];
    ExactAmounts cpu(block, c.nonzero_cpu.data(), ctx_.info.incoming_milli_cpu, c.alloc_cpu.data(), &buffers[0]);
    ExactAmounts memory(block, c.nonzero_memory.data(), ctx_.info.incoming_memory, c.alloc_memory.data(), &buffers[2]);
    int32_t small[RowBlock::kMostValues];
    if (!ExactAmounts::Exact(cpu, memory)) return false;
    util::RunLoops([cpu, memory, score = score_, size = block.size(), out = +small]() BERTH_LOOPS {
      for (size_t i = 0; i < size; ++i) {
        out[i] = score.Exact(cpu.requested(i), cpu.capacity(i), memory.requested(i), memory.capacity(i));
      }
    });
    block.Pick(small, scores);
    return true;
  }

  PodContext ctx_;
  ScoreFn score_;
};

template <typename ScoreFn>
PriorityFunction MakeAllocationPriority(ScoreFn score) {
  return [score](const PodContext& ctx) { return std::make_unique<AllocationScoring<ScoreFn>>(ctx, score); };
}

// Return a - b and a * b modulo 2^64, as Go's int64 operators do. Requests can be negative and as large as an int64.
inline int64_t WrappingSub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
inline int64_t WrappingMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
// Returns a / b, truncated toward zero. The only quotient that an int64 cannot hold wraps, as in Go. REQUIRES: b is not
// 0.
inline int64_t WrappingDiv(int64_t a, int64_t b) {
  BERTH_REQUIRES(b != 0);
  return b == -1 ? WrappingSub(0, a) : a / b;
}

// Returns part * 10 / whole, truncated toward zero. The product wraps at 64 bits, as in Go. REQUIRES: whole is not 0.
inline int64_t TenTimesShare(int64_t part, int64_t whole) {
  BERTH_REQUIRES(whole != 0);
  // Dividing doubles is faster and exact below 2^49: a quotient of at most 10 that is not an integer is at least 2^-49
  // away from the nearest one, and the rounding error of a double of that size is at most 2^-50.
  constexpr uint64_t kExact = uint64_t{1} << 49;
  if (static_cast<uint64_t>(whole) < kExact && static_cast<uint64_t>(part) <= static_cast<uint64_t>(whole)) [[likely]] {
    return static_cast<int64_t>(static_cast<double>(part * 10) / static_cast<double>(whole));
  }
  return WrappingDiv(WrappingMul(part, 10), whole);
}

}  // namespace berth::scheduler::noderesources
