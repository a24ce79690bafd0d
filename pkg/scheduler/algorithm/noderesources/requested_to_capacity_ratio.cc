#include "pkg/scheduler/algorithm/noderesources/requested_to_capacity_ratio.h"
#include "pkg/scheduler/cache/scalar_lookup.h"

#include <cmath>

namespace berth::scheduler::noderesources {
namespace {

constexpr int64_t kFull = 100;

// Returns the utilization in percent. Up to 1.21, upstream subtracts the free percentage from 100, so that the result
// of an inexact division is one percent higher than in later releases. A resource without capacity counts as full.
int64_t Utilization(int64_t requested, int64_t capacity) {
  if (capacity == 0 || requested > capacity) return kFull;
  return static_cast<int64_t>(kFull - (__int128_t{capacity} - requested) * kFull / capacity);
}

// RequestedToCapacityRatioPriority: the mean of the scores of the resources, each read from the line at its
// utilization. Source: pkg/scheduler/algorithm/priorities/requested_to_capacity_ratio.go (1.12).
class RatioScoring final : public Scoring {
 public:
  RatioScoring(const PodContext& ctx, const ScoringFunction& function, int64_t max_score)
      : ctx_(ctx), function_(function), max_score_(max_score) {
    constexpr int64_t kShapeMax = 10;
    for (auto& point : function_.shape) point.score = point.score * max_score_ / kShapeMax;
    for (const auto& w : function_.resources) weights_.emplace_back(Symbol(w.resource), w.weight);
  }

  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    for (size_t i = 0; i < rows.size(); ++i) scores[i] = weights_.empty() ? Plain(rows[i]) : Weighted(rows[i]);
    return absl::OkStatus();
  }

 private:
  int64_t ScoreOf(int64_t requested, int64_t capacity) const {
    return ScoreAt(function_.shape, Utilization(requested, capacity));
  }

  // The mean of cpu and memory, truncated, as up to 1.15.
  int64_t Plain(Row r) const { return (OfResource(r, kCpu) + OfResource(r, kMemory)) / 2; }

  // The weighted average as from 1.16 on. A resource that scores 0 is left out of both sums, so it does not lower the
  // average.
  int64_t Weighted(Row r) const {
    int64_t sum = 0, weights = 0;
    for (const auto& [name, weight] : weights_) {
      int64_t score = OfResource(r, name);
      if (score <= 0) continue;
      sum += score * weight;
      weights += weight;
    }
    return weights == 0 ? 0 : std::llround(static_cast<double>(sum) / static_cast<double>(weights));
  }

  // Requests of cpu and memory include the defaults of containers that request nothing.
  int64_t OfResource(Row r, Symbol name) const {
    const Columns& c = ctx_.cache.columns();
    if (name == kCpu) return ScoreOf(SaturatingAdd(ctx_.info.nonzero_milli_cpu, c.nonzero_cpu[r]), c.alloc_cpu[r]);
    if (name == kMemory) {
      return ScoreOf(SaturatingAdd(ctx_.info.nonzero_memory, c.nonzero_memory[r]), c.alloc_memory[r]);
    }
    const Resource& want = ctx_.info.request;
    if (name == kEphemeral) {
      return ScoreOf(SaturatingAdd(want.ephemeral_storage, c.used_ephemeral[r]), c.alloc_ephemeral[r]);
    }
    const NodeRow& row = ctx_.cache.row(r);
    return ScoreOf(SaturatingAdd(ScalarOf(want, name), ScalarOf(row.requested, name)), ScalarOf(row.allocatable, name));
  }

  const Symbol kCpu{"cpu"}, kMemory{"memory"}, kEphemeral{"ephemeral-storage"};
  PodContext ctx_;
  ScoringFunction function_;
  int64_t max_score_;
  std::vector<std::pair<Symbol, int64_t>> weights_;
};

}  // namespace

// The product is computed before the division, which truncates toward zero on falling segments, too.
int64_t ScoreAt(const std::vector<ScoringFunction::Point>& shape, int64_t utilization) {
  for (size_t i = 0; i < shape.size(); ++i) {
    if (utilization > shape[i].utilization) continue;
    if (i == 0) return shape[0].score;
    const auto &from = shape[i - 1], &to = shape[i];
    return from.score +
           (to.score - from.score) * (utilization - from.utilization) / (to.utilization - from.utilization);
  }
  return shape.back().score;
}

PriorityFunction RequestedToCapacityRatio(const PluginFactoryArgs& args, ScoringFunction function) {
  return [function = std::move(function), max_score = args.max_score](const PodContext& ctx) {
    return std::make_unique<RatioScoring>(ctx, function, max_score);
  };
}

}  // namespace berth::scheduler::noderesources
