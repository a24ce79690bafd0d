#include <algorithm>

#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/tainttoleration/tainttoleration.h"

namespace berth::scheduler::tainttoleration {
namespace {

const Symbol kNoSchedule("NoSchedule"), kNoExecute("NoExecute"), kEqual("Equal"), kExists("Exists");

class TaintsCheck final : public FitCheck {
 public:
  TaintsCheck(const Cache& cache, const std::vector<api::Toleration>& t) : cache_(cache), tolerations_(t) {}

  Verdict Check(Row row) override {
    if ((cache_.columns().flags[row] & kRowHardTaints) == 0) return Verdict::kFits;
    for (const api::Taint& taint : cache_.row(row).node->taints) {
      if (taint.effect != kNoSchedule && taint.effect != kNoExecute) continue;
      if (std::none_of(tolerations_.begin(), tolerations_.end(),
                       [&](const api::Toleration& t) { return Tolerates(t, taint); })) {
        return Verdict::kFails;
      }
    }
    return Verdict::kFits;
  }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reasons::kTaintsTolerationsNotMatch); }

 private:
  const Cache& cache_;
  const std::vector<api::Toleration>& tolerations_;
};

}  // namespace

bool Tolerates(const api::Toleration& toleration, const api::Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op.empty() || toleration.op == kEqual) return toleration.value == taint.value;
  return toleration.op == kExists;
}

FitPredicate PodToleratesNodeTaints(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) { return std::make_unique<TaintsCheck>(ctx.cache, ctx.pod.tmpl->tolerations); };
}

}  // namespace berth::scheduler::tainttoleration
