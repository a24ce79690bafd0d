#include <algorithm>

#include "pkg/scheduler/algorithm/normalize.h"
#include "pkg/scheduler/algorithm/tainttoleration/tainttoleration.h"

namespace berth::scheduler::tainttoleration {
namespace {

const Symbol kPreferNoSchedule("PreferNoSchedule");

// TaintTolerationPriority and the Score of TaintToleration: the number of PreferNoSchedule taints that the pod does not
// tolerate, normalised in reverse. Source: pkg/scheduler/algorithm/priorities/taint_toleration.go (1.10) and
// pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go (1.29).
class TaintTolerationScoring final : public Scoring {
 public:
  TaintTolerationScoring(const PodContext& ctx, int64_t max_score, TolerationRules rules, bool by_fraction = false)
      : ctx_(ctx), max_score_(max_score), by_fraction_(by_fraction), tolerations_(ctx.pod.tmpl->tolerations, rules) {}
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    const Columns& columns = ctx_.cache.columns();
    const TaintLists& lists = ctx_.cache.taint_lists();
    if (lists_version_ != lists.version()) {
      lists_version_ = lists.version();
      untolerated_.assign(lists.limit(), -1);
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      scores[i] = 0;
      if ((columns.flags[rows[i]] & kRowSoftTaints) == 0) continue;
      int32_t& known = untolerated_[columns.taints[rows[i]]];
      if (known < 0) known = Untolerated(lists[columns.taints[rows[i]]]);
      scores[i] = known;
    }
    return absl::OkStatus();
  }
  absl::Status Reduce(std::span<const Row>, std::span<int64_t> scores) override {
    if (by_fraction_) {
      NormalizeByReversedFraction(scores, max_score_);
    } else {
      NormalizeReduce(scores, true, max_score_);
    }
    return absl::OkStatus();
  }

 private:
  int32_t Untolerated(const std::vector<api::Taint>& taints) const {
    int32_t n = 0;
    for (const api::Taint& taint : taints) n += taint.effect == kPreferNoSchedule && !tolerations_.Tolerate(taint);
    return n;
  }

  PodContext ctx_;
  int64_t max_score_;
  bool by_fraction_;  // 1.8
  const Tolerations tolerations_;
  std::vector<int32_t> untolerated_;  // by number of a list of taints; negative: not counted yet
  uint64_t lists_version_ = ~uint64_t{0};
};

}  // namespace

PriorityFunction TaintToleration(const PluginFactoryArgs& args) {
  return TaintTolerationBy(args, {});
}

PriorityFunction TaintTolerationByFraction(const PluginFactoryArgs& args) {
  return [max = args.max_score](const PodContext& ctx) {
    return std::make_unique<TaintTolerationScoring>(ctx, max, TolerationRules(), /*by_fraction=*/true);
  };
}

PriorityFunction TaintTolerationBy(const PluginFactoryArgs& args, TolerationRules rules) {
  return [max = args.max_score, rules](const PodContext& ctx) {
    return std::make_unique<TaintTolerationScoring>(ctx, max, rules);
  };
}

}  // namespace berth::scheduler::tainttoleration
