#include <algorithm>

#include "pkg/scheduler/algorithm/podspread/podspread.h"
#include "pkg/scheduler/algorithm/results_of_range.h"

namespace berth::scheduler::podspread {
namespace {

constexpr double kZoneWeighting = 2.0 / 3.0;

// SelectorSpreadPriority: the fewer pods of the same services and controllers are on the node and, with weight 2/3, on
// the feasible nodes of its zone, the higher the score. Terminating pods do not count. A node without a zone is scored
// by its own number alone. One channel counts the pods on the node, and the zone is a key. Source: SelectorSpread in
// pkg/scheduler/algorithm/priorities/selector_spreading.go (1.10) and
// pkg/scheduler/framework/plugins/selectorspread/selector_spread.go (1.19).
class SpreadScoring final : public DomainScoring {
 public:
  // Returns the selectors of the pods that count: those that match one of them.
  using SelectorsOf = std::vector<api::Selector> (*)(const Listers&, const api::PodTemplate&);
  SpreadScoring(const PodContext& ctx, Cache* cache, SelectorsOf selectors_of, Symbol zone_key, int64_t max_score)
      : ctx_(ctx), cache_(cache), selectors_of_(selectors_of), zone_key_(zone_key), max_score_(max_score) {
    channels_ = {DomainChannel::kSum};
    Refresh();
  }

  bool Refresh() override {
    const api::PodTemplate& pod = *ctx_.pod.tmpl;
    const uint64_t version = ctx_.cache.listers().SelectorsVersion(pod.ns);
    if (known_ && version == version_) return false;
    version_ = version;
    PodQuery query;
    query.namespaces = {pod.ns};
    query.any_of = selectors_of_(ctx_.cache.listers(), pod);
    query.skip_terminating = true;
    std::shared_ptr<const PodCount> count;
    if (!query.any_of.empty()) count = cache_->Count(query);
    const bool changed = !known_ || count != count_;
    known_ = true;
    count_ = std::move(count);
    terms_.clear();
    keys_.clear();
    if (count_ == nullptr) return changed;
    terms_.push_back({count_, nullptr, 1, 0});
    keys_.push_back(&cache_->Label(zone_key_));
    return changed;
  }

  void Score(const DomainParts& parts, std::span<int64_t> scores) const override {
    if (count_ == nullptr) return std::fill(scores.begin(), scores.end(), max_score_);
    thread_local std::vector<int64_t> in_zone;  // by domain
    in_zone.assign(keys_[0]->domain_limit(), 0);
    int64_t max_count = 0, max_in_zone = 0;
    for (size_t i = 0; i < parts.size; ++i) {
      if (parts.nodes[i] == 0) continue;
      const int64_t count = parts.sums[i].value;
      max_count = std::max(max_count, count);
      if (count != 0 && parts.domains[i] != LabelColumn::kNoDomain) in_zone[parts.domains[i]] += count * parts.nodes[i];
    }
    for (int64_t n : in_zone) max_in_zone = std::max(max_in_zone, n);
    thread_local std::vector<double> zone_shares;  // by domain
    zone_shares.clear();
    const auto zone_share_of =
        ResultsOf<double>(0, max_in_zone, in_zone.size(), [=, this](int64_t n) { return Share(n, max_in_zone); });
    for (const int64_t n : in_zone) zone_shares.push_back(zone_share_of(n));
    const auto share_of =
        ResultsOf<double>(0, max_count, parts.size, [=, this](int64_t count) { return Share(count, max_count); });
    for (size_t i = 0; i < parts.size; ++i) {
      double score = share_of(parts.sums[i].value);
      if (parts.domains[i] != LabelColumn::kNoDomain) {
        score = (score * (1.0 - kZoneWeighting)) + (kZoneWeighting * zone_shares[parts.domains[i]]);
      }
      scores[i] = static_cast<int64_t>(score);
    }
  }

 private:
  // The quotient is computed before the product and the result is truncated, so that 5 of 10 may become 4 (bug B-23,
  // kept).
  double Share(int64_t count, int64_t max) const {
    const double all = static_cast<double>(max_score_);
    return max == 0 || count == 0 ? all : all * (static_cast<double>(max - count) / static_cast<double>(max));
  }

  PodContext ctx_;
  Cache* cache_;
  SelectorsOf selectors_of_;
  Symbol zone_key_;
  int64_t max_score_;
  bool known_ = false;
  uint64_t version_ = 0;                   // version of the selectors in the pod's namespace
  std::shared_ptr<const PodCount> count_;  // null if no service or controller selects the pod
};

std::vector<api::Selector> EachOf(const Listers& listers, const api::PodTemplate& pod) {
  return listers.SelectorsOf(pod);
}
std::vector<api::Selector> OneOfAll(const Listers& listers, const api::PodTemplate& pod) {
  api::Selector selector = SelectorOfServicesAndControllers(listers, pod);
  if (selector.Empty()) return {};
  return {std::move(selector)};
}

// Gives every node 0.
class NoSpreadScoring final : public DomainScoring {
 public:
  bool Skips(std::span<const Row>) override { return true; }
  void Score(const DomainParts&, std::span<int64_t> scores) const override {
    std::fill(scores.begin(), scores.end(), 0);
  }
};

}  // namespace

PriorityFunction SelectorSpread(const PluginFactoryArgs& args) {
  return [cache = args.cache, max = args.max_score](const PodContext& ctx) {
    return std::make_unique<SpreadScoring>(ctx, cache, EachOf, Cache::ZoneKey(), max);
  };
}

PriorityFunction SelectorSpreadOfUnconstrained(const PluginFactoryArgs& args) {
  return [cache = args.cache, max = args.max_score](const PodContext& ctx) -> std::unique_ptr<Scoring> {
    if (!ctx.pod.tmpl->spread_constraints.empty()) return std::make_unique<NoSpreadScoring>();
    return std::make_unique<SpreadScoring>(ctx, cache, OneOfAll, Cache::ZoneByEitherLabelKey(), max);
  };
}

}  // namespace berth::scheduler::podspread
