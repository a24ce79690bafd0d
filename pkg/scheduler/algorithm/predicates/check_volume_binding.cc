#include "pkg/scheduler/algorithm/predicates/predicates.h"
#include "pkg/scheduler/algorithm/predicates/reasons.h"
#include "pkg/scheduler/volumebinder/volume_binder.h"
#include "pkg/util/status.h"

namespace berth::scheduler::predicates {
namespace {

class VolumeBindingCheck final : public FitCheck {
 public:
  // A pod without such volumes fits everywhere; one with them depends on claims, volumes and classes too.
  Scope scope() const override { return FitsAlways() ? Scope::kNode : Scope::kAnything; }
  bool FitsAlways() const override { return claims_.error.empty() && claims_.bound.empty() && claims_.unbound.empty(); }
  VolumeBindingCheck(const PodContext& ctx, const VolumeBinder* binder)
      : cache_(ctx.cache), binder_(binder), claims_(binder->ClaimsOf(ctx.pod)) {}

  Verdict Check(Row row) override {
    Answer a = Ask(row);
    if (!a.error.empty()) return Verdict::kError;
    return a.bound_ok && a.unbound_ok ? Verdict::kFits : Verdict::kFails;
  }
  void Explain(Row row, std::vector<FailureReason>* out) override {
    Answer a = Ask(row);
    if (!a.bound_ok) out->push_back(reasons::kVolumeNodeConflict);
    if (!a.unbound_ok) out->push_back(reasons::kVolumeBindConflict);
  }
  std::string Error(Row row) override { return Ask(row).error; }
  void Filter(RowSet* candidates, RowSet* errors) override {
    if (!FitsAlways()) FitCheck::Filter(candidates, errors);
  }

 private:
  struct Answer {
    bool bound_ok = true, unbound_ok = true;
    std::string error;
  };
  Answer Ask(Row row) const {
    Answer a;
    a.error = claims_.error;
    if (!a.error.empty()) return a;
    const api::Labels& labels = cache_.row(row).node->labels;
    auto bound = binder_->BoundFit(claims_, labels);
    if (!bound.ok()) {
      a.error = util::Message(bound.status());
      return a;
    }
    a.bound_ok = *bound;
    auto match = binder_->Match(claims_, labels);
    if (!match.ok()) {
      a.error = util::Message(match.status());
    } else {
      a.unbound_ok = match->has_value();
    }
    return a;
  }

  const Cache& cache_;
  const VolumeBinder* binder_;
  VolumeBinder::PodClaims claims_;
};

class NoVolumeBindingCheck final : public FitCheck {
 public:
  Scope scope() const override { return Scope::kNode; }
  bool FitsAlways() const override { return true; }
  Verdict Check(Row) override { return Verdict::kFits; }
  void Explain(Row, std::vector<FailureReason>*) override {}
  void Filter(RowSet*, RowSet*) override {}
};

}  // namespace

FitPredicate CheckVolumeBinding(const PluginFactoryArgs& args) {
  const VolumeBinder* binder = args.gates.volume_scheduling ? args.volume_binder : nullptr;
  return [binder](const PodContext& ctx) -> std::unique_ptr<FitCheck> {
    if (binder == nullptr) return std::make_unique<NoVolumeBindingCheck>();
    return std::make_unique<VolumeBindingCheck>(ctx, binder);
  };
}

}  // namespace berth::scheduler::predicates
