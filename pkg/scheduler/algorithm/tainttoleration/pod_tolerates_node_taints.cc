#include <algorithm>

#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/tainttoleration/tainttoleration.h"

namespace berth::scheduler::tainttoleration {
namespace {

const Symbol kNoSchedule("NoSchedule"), kNoExecute("NoExecute"), kEqual("Equal"), kExists("Exists");

bool ToleratesAll(const std::vector<api::Toleration>& tolerations, const api::Node& node) {
  for (const api::Taint& taint : node.taints) {
    if (taint.effect != kNoSchedule && taint.effect != kNoExecute) continue;
    if (std::none_of(tolerations.begin(), tolerations.end(),
                     [&](const api::Toleration& t) { return Tolerates(t, taint); })) {
      return false;
    }
  }
  return true;
}

class TaintsCheck final : public FitCheck {
 public:
  TaintsCheck(const Cache& cache, const std::vector<api::Toleration>& t) : cache_(cache), tolerations_(t) {}

  Verdict Check(Row row) override {
    if ((cache_.columns().flags[row] & kRowHardTaints) == 0) return Verdict::kFits;
    return ToleratesAll(tolerations_, *cache_.row(row).node) ? Verdict::kFits : Verdict::kFails;
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

bool ToleratesAll(const api::PodTemplate& pod, const api::Node& node) {
  return ToleratesAll(pod.tolerations, node);
}

FitPredicate PodToleratesNodeTaints(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) { return std::make_unique<TaintsCheck>(ctx.cache, ctx.pod.tmpl->tolerations); };
}

}  // namespace berth::scheduler::tainttoleration
