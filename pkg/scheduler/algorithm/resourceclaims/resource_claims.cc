// The plugin DynamicResources. Source: pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go and
// staging/src/k8s.io/dynamic-resource-allocation/resourceclaim (1.36).
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>

#include "pkg/api/decode.h"
#include "pkg/scheduler/algorithm/resourceclaims/resourceclaims.h"

namespace berth::scheduler::resourceclaims {
namespace {

// Rejects the pod as a whole.
class ClaimsCheck final : public FitCheck {
 public:
  explicit ClaimsCheck(const PodContext& ctx) {
    if (ctx.pod.tmpl->resource_claims.empty()) return;
    if (const std::string why = WhyClaimsHold(ctx.pod, ctx.cache.listers()); !why.empty()) {
      rejection_ = PodRejection{{Symbol::InternBriefly(why), true}};
    }
  }
  PreFilterResult PreFilter() override {
    PreFilterResult result;
    if (rejection_) result.rejection = &*rejection_;
    result.skip = FitsAlways();
    return result;
  }
  bool FitsAlways() const override { return !rejection_; }
  Verdict Check(Row) override { return rejection_ ? Verdict::kFails : Verdict::kFits; }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(rejection_->reason); }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }

 private:
  std::optional<PodRejection> rejection_;
};

}  // namespace

std::string WhyClaimsHold(const api::Pod& pod, const Listers& listers) {
  for (const api::PodResourceClaim& c : pod.tmpl->resource_claims) {
    const std::string quoted = api::GoQuoted(pod.meta.Key());
    std::string claim = c.claim;
    if (claim.empty()) {
      if (!c.from_template) return absl::StrCat("pod ", quoted, ": none of the supported fields are set");
      const auto is_of = [&](const auto& status) { return status.first == c.name.str(); };
      using Statuses = std::vector<std::pair<std::string, std::optional<std::string>>>;
      static const Statuses kNone;
      const Statuses& statuses = pod.claim_statuses ? *pod.claim_statuses : kNone;
      const auto status = std::find_if(statuses.begin(), statuses.end(), is_of);
      if (status == statuses.end()) return absl::StrCat("pod ", quoted, ": ResourceClaim not created yet");
      if (!status->second) continue;  // the pod needs no claim for this entry
      claim = *status->second;
    }
    const std::string name = api::GoQuoted(pod.tmpl->ns.string() + "/" + claim);
    if (listers.device_claims.Get(pod.tmpl->ns, claim) == nullptr) {
      return absl::StrCat("could not find ResourceClaim ", name);
    }
    return absl::StrCat("ResourceClaim ", name, " needs devices, which this scheduler does not allocate");
  }
  return {};
}

FitPredicate ResourceClaims(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) { return std::make_unique<ClaimsCheck>(ctx); };
}

}  // namespace berth::scheduler::resourceclaims
