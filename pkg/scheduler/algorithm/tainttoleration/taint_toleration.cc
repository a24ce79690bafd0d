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
  // As a rule there are few lists of taints, and then each is looked at once, and no row is tested for anything.
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    const uint32_t* const list_of = ctx_.cache.columns().taints.data();
    const TaintLists& lists = ctx_.cache.taint_lists();
    if (lists_version_ != lists.version()) {
      lists_version_ = lists.version();
      untolerated_.assign(lists.limit(), -1);
      all_known_ = false;
    }
    if (!all_known_ && lists.limit() <= rows.size()) {
      all_known_ = true;
      for (uint32_t list = 0; list < lists.limit(); ++list) UntoleratedOf(list);
    }
    const int32_t* const known = untolerated_.data();
    for (size_t i = 0; i < rows.size(); ++i) {
      scores[i] = all_known_ ? known[list_of[rows[i]]] : UntoleratedOf(list_of[rows[i]]);
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
  // Returns how many taints of the list count, which is found when it is first needed.
  int32_t UntoleratedOf(uint32_t list) {
    int32_t& known = untolerated_[list];
    if (known >= 0) return known;
    known = 0;
    for (const api::Taint& taint : ctx_.cache.taint_lists()[list]) {
      known += taint.effect == kPreferNoSchedule && !tolerations_.Tolerate(taint) ? 1 : 0;
    }
    return known;
  }

  PodContext ctx_;
  int64_t max_score_;
  bool by_fraction_;  // 1.8
  const Tolerations tolerations_;
  std::vector<int32_t> untolerated_;  // by number of a list of taints; negative: not counted yet
  bool all_known_ = false;            // whether none of them is negative
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
