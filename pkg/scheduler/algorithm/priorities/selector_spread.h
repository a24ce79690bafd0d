// SelectorSpreadPriority, taken apart for those who keep scores between pods (core/fast_path).
#pragma once
#include <memory>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::priorities {

// What the score of a node depends on.
struct SpreadInput {
  int64_t count = 0, max_count = 0;      // pods on the node, on the fullest feasible node
  int64_t in_zone = 0, max_in_zone = 0;  // the same for zones, feasible nodes only
  bool zoned = false;                    // the node has a zone
};
int64_t SpreadScore(const SpreadInput& in);

class SpreadScoring final : public Scoring {
 public:
  SpreadScoring(const PodContext& ctx, Cache* cache);
  Scope scope() const override { return Scope::kSpread; }
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override;
  absl::Status Reduce(std::span<const Row> rows, std::span<int64_t> scores) override;

  // The pods to keep away from; null when no service or controller selects the pod.
  const PodCount* count() const { return count_.get(); }

 private:
  PodContext ctx_;
  std::shared_ptr<const PodCount> count_;
};

}  // namespace berth::scheduler::priorities
