#include <algorithm>

#include "pkg/scheduler/algorithm/predicates/predicates.h"
#include "pkg/scheduler/algorithm/priorities/priorities.h"

namespace berth::scheduler::priorities {
namespace {

const Symbol kPreferNoSchedule("PreferNoSchedule");

class TaintTolerationScoring final : public Scoring {
 public:
  Scope scope() const override { return Scope::kNode; }
  ReduceKind reduce_kind() const override { return ReduceKind::kNormalizeReversed; }
  explicit TaintTolerationScoring(const PodContext& ctx) : ctx_(ctx) {
    for (const api::Toleration& t : ctx.pod.tmpl->tolerations) {
      if (t.effect.empty() || t.effect == kPreferNoSchedule) tolerations_.push_back(&t);
    }
  }
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    for (size_t i = 0; i < rows.size(); ++i) {
      scores[i] = 0;
      if ((ctx_.cache.columns().flags[rows[i]] & kRowSoftTaints) == 0) continue;
      for (const api::Taint& taint : ctx_.cache.row(rows[i]).node->taints) {
        if (taint.effect != kPreferNoSchedule) continue;
        scores[i] += std::none_of(tolerations_.begin(), tolerations_.end(),
                                  [&](const api::Toleration* t) { return predicates::Tolerates(*t, taint); });
      }
    }
    return absl::OkStatus();
  }
  absl::Status Reduce(std::span<const Row>, std::span<int64_t> scores) override {
    NormalizeReduce(scores, true);
    return absl::OkStatus();
  }

 private:
  PodContext ctx_;
  std::vector<const api::Toleration*> tolerations_;
};

}  // namespace

PriorityFunction TaintToleration(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) { return std::make_unique<TaintTolerationScoring>(ctx); };
}

}  // namespace berth::scheduler::priorities
