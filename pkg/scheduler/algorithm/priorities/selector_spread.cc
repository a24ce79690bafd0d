#include "pkg/scheduler/algorithm/priorities/selector_spread.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>

#include "pkg/scheduler/algorithm/priorities/priorities.h"

namespace berth::scheduler::priorities {
namespace {

constexpr double kZoneWeighting = 2.0 / 3.0;
constexpr double kTen = static_cast<double>(kMaxPriority);

double Share(int64_t count, int64_t max) {
  if (max == 0) return kTen;
  return kTen * (static_cast<double>(max - count) / static_cast<double>(max));
}

}  // namespace

int64_t SpreadScore(const SpreadInput& in) {
  double score = Share(in.count, in.max_count);
  if (in.zoned) score = (score * (1.0 - kZoneWeighting)) + (kZoneWeighting * Share(in.in_zone, in.max_in_zone));
  return static_cast<int64_t>(score);
}

SpreadScoring::SpreadScoring(const PodContext& ctx, Cache* cache) : ctx_(ctx) {
  PodQuery query;
  query.namespaces = {ctx.pod.tmpl->ns};
  query.any_of = ctx.cache.listers().SelectorsOf(*ctx.pod.tmpl);
  query.skip_terminating = true;
  if (!query.any_of.empty()) count_ = cache->Count(query);
}

absl::Status SpreadScoring::Map(std::span<const Row> rows, std::span<int64_t> scores) {
  for (size_t i = 0; i < rows.size(); ++i) scores[i] = count_ != nullptr ? count_->OnRow(rows[i]) : 0;
  return absl::OkStatus();
}

absl::Status SpreadScoring::Reduce(std::span<const Row> rows, std::span<int64_t> scores) {
  SpreadInput in;
  absl::flat_hash_map<Symbol, int64_t> by_zone;
  for (size_t i = 0; i < rows.size(); ++i) {
    in.max_count = std::max(in.max_count, scores[i]);
    Symbol zone = ctx_.cache.columns().zone[rows[i]];
    if (!zone.empty()) by_zone[zone] += scores[i];
  }
  for (const auto& [zone, n] : by_zone) in.max_in_zone = std::max(in.max_in_zone, n);
  for (size_t i = 0; i < rows.size(); ++i) {
    Symbol zone = ctx_.cache.columns().zone[rows[i]];
    in.zoned = !zone.empty();
    in.in_zone = in.zoned ? by_zone[zone] : 0;
    in.count = scores[i];
    scores[i] = SpreadScore(in);
  }
  return absl::OkStatus();
}

PriorityFunction SelectorSpread(const PluginFactoryArgs& args) {
  return [cache = args.cache](const PodContext& ctx) { return std::make_unique<SpreadScoring>(ctx, cache); };
}

}  // namespace berth::scheduler::priorities
