#include <algorithm>

#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/tainttoleration/tainttoleration.h"

namespace berth::scheduler::tainttoleration {
namespace {

const Symbol kNoSchedule("NoSchedule"), kNoExecute("NoExecute"), kEqual("Equal"), kExists("Exists");

// Returns the first taint that keeps the pod away, or null.
const api::Taint* Untolerated(const std::vector<api::Toleration>& tolerations, const api::Node& node) {
  for (const api::Taint& taint : node.taints) {
    if (taint.effect != kNoSchedule && taint.effect != kNoExecute) continue;
    if (std::none_of(tolerations.begin(), tolerations.end(),
                     [&](const api::Toleration& t) { return Tolerates(t, taint); })) {
      return &taint;
    }
  }
  return nullptr;
}
bool ToleratesAll(const std::vector<api::Toleration>& tolerations, const api::Node& node) {
  return Untolerated(tolerations, node) == nullptr;
}

enum class Reason : uint8_t { kPlain, kNamesTaint };

class TaintsCheck final : public FitCheck {
 public:
  TaintsCheck(const Cache& cache, const std::vector<api::Toleration>& t, Reason reason)
      : cache_(cache), tolerations_(t), reason_(reason) {}

  Verdict Check(Row row) override {
    if ((cache_.columns().flags[row] & kRowHardTaints) == 0) return Verdict::kFits;
    return ToleratesAll(tolerations_, *cache_.row(row).node) ? Verdict::kFits : Verdict::kFails;
  }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }
  void Explain(Row row, std::vector<FailureReason>* out) override {
    if (reason_ == Reason::kPlain) return out->push_back(reasons::kTaintsTolerationsNotMatch);
    const api::Taint* taint = Untolerated(tolerations_, *cache_.row(row).node);
    out->push_back(
        {Symbol("node(s) had untolerated taint {" + taint->key.string() + ": " + taint->value.string() + "}"), true});
  }

 private:
  const Cache& cache_;
  const std::vector<api::Toleration>& tolerations_;
  Reason reason_;
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
  return [](const PodContext& ctx) {
    return std::make_unique<TaintsCheck>(ctx.cache, ctx.pod.tmpl->tolerations, Reason::kPlain);
  };
}

FitPredicate UntoleratedTaints(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) {
    return std::make_unique<TaintsCheck>(ctx.cache, ctx.pod.tmpl->tolerations, Reason::kNamesTaint);
  };
}

}  // namespace berth::scheduler::tainttoleration
