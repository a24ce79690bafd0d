// CheckVolumeBinding from 1.11 on. Source: VolumeBindingChecker in pkg/scheduler/algorithm/predicates/predicates.go and
// FindPodVolumes in pkg/controller/volume/persistentvolume/scheduler_binder.go (1.13).
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/api/decode.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/volumes/always_fits.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"
#include "pkg/scheduler/volumebinder/claim_binder.h"

namespace berth::scheduler::volumes {
namespace {

// A node fits if the volumes of all bound claims can be used there and every delayed claim finds a volume or can be
// provisioned there. Both reasons may be reported for a node. A claim that the volume controller has to bind is an
// error on every node.
class ProvisioningCheck final : public FitCheck {
 public:
  ProvisioningCheck(const PodContext& ctx, const ClaimBinder* binder)
      : cache_(ctx.cache), binder_(binder), claims_(binder->ClaimsOf(ctx.pod)) {
    if (claims_.error.empty() && !claims_.immediate.empty()) {
      claims_.error = "pod has unbound immediate PersistentVolumeClaims";
    }
    // The class of a delayed claim exists, so nothing else can go wrong.
    may_error_ = !claims_.error.empty() || std::any_of(claims_.bound.begin(), claims_.bound.end(), [&](const auto& c) {
      return binder->Volume(c->volume_name) == nullptr;
    });
  }

  bool FitsAlways() const override { return !claims_.any; }
  bool MayError() const override { return may_error_; }
  Verdict Check(Row row) override {
    if (!claims_.error.empty()) return Verdict::kError;
    const ClaimBinder::OnNode found = Ask(row);
    if (!found.error.empty() || !found.bound_exist) return Verdict::kError;
    return found.fits() ? Verdict::kFits : Verdict::kFails;
  }
  void Explain(Row row, std::vector<FailureReason>* out) override {
    const ClaimBinder::OnNode found = Ask(row);
    if (!found.bound_fit) out->push_back(reasons::kVolumeNodeConflict);
    if (!found.unbound_fit) out->push_back(reasons::kVolumeBindConflict);
  }
  RuleError Error(Row row) override {
    if (!claims_.error.empty()) return claims_.error;
    const ClaimBinder::OnNode found = Ask(row);
    if (found.bound_exist) return found.error;
    for (const auto& claim : claims_.bound) {
      if (binder_->Volume(claim->volume_name) != nullptr) continue;
      return absl::StrCat("could not find v1.PersistentVolume ", api::GoQuoted(claim->volume_name));
    }
    return found.error;
  }

  void Filter(RowSet* candidates, RowSet* errors) override {
    if (may_error_ || !binder_->KeepFitting(claims_, candidates)) FitCheck::Filter(candidates, errors);
  }

 private:
  ClaimBinder::OnNode Ask(Row row) const { return binder_->Find(claims_, *cache_.row(row).node); }

  const Cache& cache_;
  const ClaimBinder* binder_;
  ClaimBinder::PodClaims claims_;
  bool may_error_ = false;
};

}  // namespace

FitPredicate CheckVolumeProvisioning(const PluginFactoryArgs& args) {
  const ClaimBinder* binder = args.gates.volume_scheduling ? args.claim_binder : nullptr;
  return [binder](const PodContext& ctx) -> std::unique_ptr<FitCheck> {
    if (binder == nullptr) return std::make_unique<AlwaysFits>();
    return std::make_unique<ProvisioningCheck>(ctx, binder);
  };
}

}  // namespace berth::scheduler::volumes
