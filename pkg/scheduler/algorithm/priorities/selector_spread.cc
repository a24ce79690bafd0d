#include <absl/container/flat_hash_map.h>

#include <algorithm>

#include "pkg/scheduler/algorithm/priorities/priorities.h"

namespace berth::scheduler::priorities {
namespace {

constexpr double kZoneWeighting = 2.0 / 3.0;

class SpreadScoring final : public Scoring {
 public:
  SpreadScoring(const PodContext& ctx, Cache* cache) : ctx_(ctx) {
    PodQuery query;
    query.namespaces = {ctx.pod.tmpl->ns};
    query.any_of = ctx.cache.listers().SelectorsOf(*ctx.pod.tmpl);
    query.skip_terminating = true;
    if (!query.any_of.empty()) count_ = cache->Count(query);
  }

  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    for (size_t i = 0; i < rows.size(); ++i) scores[i] = count_ != nullptr ? count_->OnRow(rows[i]) : 0;
    return absl::OkStatus();
  }

  absl::Status Reduce(std::span<const Row> rows, std::span<int64_t> scores) override {
    int64_t max = 0;
    bool have_zones = false;
    absl::flat_hash_map<Symbol, int64_t> by_zone;
    for (size_t i = 0; i < rows.size(); ++i) {
      max = std::max(max, scores[i]);
      Symbol zone = ctx_.cache.row(rows[i]).zone;
      if (zone.empty()) continue;
      have_zones = true;
      by_zone[zone] += scores[i];
    }
    int64_t max_zone = 0;
    for (const auto& [zone, n] : by_zone) max_zone = std::max(max_zone, n);

    const double ten = static_cast<double>(kMaxPriority);
    for (size_t i = 0; i < rows.size(); ++i) {
      double f = ten;
      if (max > 0) f = ten * (static_cast<double>(max - scores[i]) / static_cast<double>(max));
      Symbol zone = ctx_.cache.row(rows[i]).zone;
      if (have_zones && !zone.empty()) {
        double g = ten;
        if (max_zone > 0) g = ten * (static_cast<double>(max_zone - by_zone[zone]) / static_cast<double>(max_zone));
        f = (f * (1.0 - kZoneWeighting)) + (kZoneWeighting * g);
      }
      scores[i] = static_cast<int64_t>(f);
    }
    return absl::OkStatus();
  }

 private:
  PodContext ctx_;
  std::shared_ptr<const PodCount> count_;  // null: no service or controller selects the pod
};

}  // namespace

PriorityFunction SelectorSpread(const PluginFactoryArgs& args) {
  return [cache = args.cache](const PodContext& ctx) { return std::make_unique<SpreadScoring>(ctx, cache); };
}

}  // namespace berth::scheduler::priorities
