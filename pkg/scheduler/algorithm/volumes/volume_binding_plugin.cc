// The plugin VolumeBinding of releases 1.19 and 1.29. Source: volume_binding.go and binder.go in
// pkg/scheduler/framework/plugins/volumebinding.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <cmath>
#include <map>
#include <optional>

#include "pkg/api/decode.h"
#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/volumes/missing_object.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"
#include "pkg/scheduler/volumebinder/claim_binder.h"
#include "pkg/scheduler/volumebinder/csi_translation.h"

namespace berth::scheduler::volumes {
namespace {

const FailureReason kNoSpace{Symbol("node(s) did not have enough free storage"), true};
const FailureReason kNoVolume{Symbol("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"),
                              true};

const FailureReason kNoBoundVolume{Symbol("pvc(s) bound to non-existent pv(s)"), true};

// A node fits if the volumes of all bound claims exist and can be used there, and every delayed claim finds a volume or
// can be provisioned there. A claim that cannot be used rejects the pod before any node is examined; in 1.19 that is
// only a claim that waits for the volume controller. All reasons that apply to a node are reported, in the order of
// upstream.
class BindingCheck final : public ColumnCheck {
 public:
  BindingCheck(const PodContext& ctx, std::shared_ptr<const ClaimBinder> binder, bool rejects_unusable,
               const FailureReason& no_volume, const FailureReason& node_conflict)
      : cache_(ctx.cache), binder_(std::move(binder)), no_volume_(no_volume), node_conflict_(node_conflict) {
    for (const api::Volume& v : ctx.pod.tmpl->volumes) {
      const RuleError why = rejects_unusable ? WhyNotUsable(ctx.pod, v) : RuleError();
      if (why.empty()) continue;
      Reject(why);
      return;
    }
    claims_ = binder_->ClaimsOf(ctx.pod);
    if (claims_.error.empty() && !claims_.immediate.empty()) {
      Reject("pod has unbound immediate PersistentVolumeClaims");
    }
  }

  PreFilterResult PreFilter() override {
    PreFilterResult result;
    if (rejection_) result.rejection = &*rejection_;
    result.error = claims_.error;
    result.skip = FitsAlways();
    return result;
  }
  bool FitsAlways() const override { return !rejection_ && !claims_.any; }
  bool MayError() const override { return !claims_.error.empty(); }
  Verdict Check(Row row) override {
    const ClaimBinder::OnNode found = Ask(row);
    if (!found.error.empty()) return Verdict::kError;
    return found.fits() ? Verdict::kFits : Verdict::kFails;
  }
  void Explain(Row row, std::vector<FailureReason>* out) override {
    const ClaimBinder::OnNode found = Ask(row);
    if (!found.bound_fit) out->push_back(node_conflict_);
    if (!found.unbound_fit) out->push_back(reasons::kVolumeBindConflict);
    if (!found.enough_space) out->push_back(kNoSpace);
    if (!found.bound_exist) out->push_back(no_volume_);
  }
  RejectionDetail Detail(Row row) override {
    const ClaimBinder::OnNode found = Ask(row);
    auto names = [](const std::vector<ClaimBinder::ClaimPtr>& claims) {
      return absl::StrJoin(claims, ", ", [](std::string* out, const auto& c) { out->append(c->meta.name); });
    };
    std::vector<std::string> parts;
    if (!found.bound_fit) parts.push_back(absl::StrCat("a volume of ", names(claims_.bound), " is out of its reach"));
    if (!found.unbound_fit) {
      parts.push_back(
          absl::StrCat("no free volume for ", names(claims_.delayed), ", and none can be provisioned there"));
    }
    if (!found.enough_space) {
      parts.push_back(absl::StrCat("no CSIStorageCapacity there is large enough for ", names(claims_.delayed)));
    }
    if (!found.bound_exist) parts.push_back(absl::StrCat("a volume of ", names(claims_.bound), " does not exist"));
    return absl::StrJoin(parts, "; ");
  }
  RuleError Error(Row row) override { return Ask(row).error; }
  // Bound claims alone fail for one of two reasons, which are found for all nodes at once. kUsable is 0.
  int ReasonBits() const override {
    return !rejection_ && claims_.delayed.empty() && !binder_->MayErr(claims_.bound) ? 2 : 0;
  }
  void NumberReasons(std::span<const Row> rows, const AddedAmounts*, std::span<uint32_t> numbers) override {
    thread_local std::vector<ClaimBinder::Bound> found;
    found.resize(rows.size());
    binder_->FindBound(claims_.bound, rows, found);
    for (size_t i = 0; i < rows.size(); ++i) numbers[i] = static_cast<uint32_t>(found[i]);
  }
  void Filter(RowSet* candidates, RowSet* errors) override {
    if (!binder_->KeepFitting(claims_, candidates)) FitCheck::Filter(candidates, errors);
  }
  // Evictions release no volumes.
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }

 private:
  void Reject(const RuleError& why) { rejection_ = PodRejection{RejectionFor(why)}; }
  ClaimBinder::OnNode Ask(Row row) const { return binder_->Find(claims_, *cache_.row(row).node); }

  // Returns why the claim of a pod's volume cannot be used, as PreFilter words it. Empty if it can be, or if there is
  // no claim.
  RuleError WhyNotUsable(const api::Pod& pod, const api::Volume& v) const {
    const auto name = ClaimNameOf(pod, v);
    if (!name) return {};
    const auto claim = cache_.listers().claims.Get(pod.tmpl->ns, *name);
    const std::string quoted = absl::StrCat("persistentvolumeclaim ", api::GoQuoted(*name));
    if (claim == nullptr) {
      return v.kind == api::Volume::Kind::kEphemeral
                 ? RuleError("waiting for ephemeral volume controller to create the " + quoted, reasons::kNoClaimYet)
                 : NoClaim(*name);
    }
    if (claim->phase == "Lost") {
      return {absl::StrCat(quoted, " bound to non-existent persistentvolume ", api::GoQuoted(claim->volume_name)),
              reasons::kClaimLostVolume};
    }
    if (claim->meta.deleting()) return {quoted + " is being deleted", reasons::kClaimIsDeleted};
    return OwnershipError(pod, v, *claim);
  }

  const Cache& cache_;
  std::shared_ptr<const ClaimBinder> binder_;
  const FailureReason& no_volume_;
  const FailureReason node_conflict_;
  ClaimBinder::PodClaims claims_;
  std::optional<PodRejection> rejection_;
};

// Without a binder that is informed of assumptions, the rules rely on the cache alone.
std::shared_ptr<const ClaimBinder> BinderOf(const PluginFactoryArgs& args, ClaimRules rules) {
  if (args.claim_binder != nullptr) return {std::shared_ptr<void>(), args.claim_binder};
  return std::make_shared<const ClaimBinder>(args.cache, rules);
}

// The Score of VolumeBinding: the mean, over the storage classes of the pod's unbound claims, of the score on the shape
// for the utilization of the volumes found for them. Where none is found, the utilization is that of the storage from
// which the claims would be provisioned: the last claim of a class says how much there is.
class StorageCapacityScoring final : public Scoring {
 public:
  using Shape = std::vector<std::pair<int64_t, int64_t>>;
  StorageCapacityScoring(const PodContext& ctx, std::shared_ptr<const ClaimBinder> binder, const Shape& shape)
      : cache_(ctx.cache), binder_(std::move(binder)), shape_(shape), claims_(binder_->ClaimsOf(ctx.pod)) {}

  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    for (size_t i = 0; i < rows.size(); ++i) scores[i] = ScoreOf(*cache_.row(rows[i]).node);
    return absl::OkStatus();
  }

 private:
  struct Storage {
    int64_t requested = 0, capacity = 0;  // bytes
  };

  int64_t ScoreOf(const api::Node& node) const {
    if (claims_.delayed.empty() || shape_.empty()) return 0;
    const ClaimBinder::OnNode found = binder_->Find(claims_, node);
    std::map<std::string, Storage> by_class;
    for (const auto& [claim, volume] : found.bindings) {
      Storage& s = by_class[volume->Class()];
      s.requested += claim->request.Value();
      s.capacity += volume->capacity ? volume->capacity->Value() : 0;
    }
    if (found.bindings.empty()) {
      for (const auto& claim : found.provisions) {
        const std::optional<int64_t> capacity = binder_->CapacityFor(*claim, node);
        if (!capacity) continue;
        Storage& s = by_class[claim->Class()];
        s.requested += claim->request.Value();
        s.capacity = *capacity;
      }
    }
    if (by_class.empty()) return 0;
    int64_t sum = 0;
    for (const auto& [name, s] : by_class) {
      const bool full = s.capacity == 0 || s.requested > s.capacity;
      sum += OnShape(full ? 100 : s.requested * 100 / s.capacity);
    }
    return static_cast<int64_t>(std::round(static_cast<double>(sum) / static_cast<double>(by_class.size())));
  }
  int64_t OnShape(int64_t utilization) const {
    for (size_t i = 0; i < shape_.size(); ++i) {
      const auto& [at, score] = shape_[i];
      if (utilization > at) continue;
      if (i == 0) return score;
      const auto& [from, before] = shape_[i - 1];
      return before + (score - before) * (utilization - from) / (at - from);
    }
    return shape_.back().second;
  }

  const Cache& cache_;
  std::shared_ptr<const ClaimBinder> binder_;
  const Shape& shape_;
  ClaimBinder::PodClaims claims_;
};

FitPredicate MakeBinding(const PluginFactoryArgs& args, ClaimRules rules, bool rejects_unusable,
                         const FailureReason& no_volume, const FailureReason& node_conflict) {
  return [binder = BinderOf(args, rules), rejects_unusable, &no_volume, node_conflict](const PodContext& ctx) {
    return std::make_unique<BindingCheck>(ctx, binder, rejects_unusable, no_volume, node_conflict);
  };
}

}  // namespace

FitPredicate VolumeBinding(const PluginFactoryArgs& args) {
  return MakeBinding(args, {}, true, kNoVolume, reasons::kVolumeNodeConflict);
}
FitPredicate VolumeBindingOfUnboundClaims(const PluginFactoryArgs& args) {
  return MakeBinding(args, {}, false, kNoBoundVolume, reasons::kVolumeNodeConflict);
}
FitPredicate VolumeBindingSaying(const PluginFactoryArgs& args, ClaimRules rules, std::string_view node_conflict) {
  return MakeBinding(args, rules, true, kNoVolume, {Symbol(node_conflict), true});
}

PriorityFunction StorageCapacity(const PluginFactoryArgs& args, ClaimRules rules,
                                 std::vector<std::pair<int64_t, int64_t>> shape) {
  auto shared = std::make_shared<const StorageCapacityScoring::Shape>(std::move(shape));
  return [binder = BinderOf(args, rules), shared](const PodContext& ctx) {
    return std::make_unique<StorageCapacityScoring>(ctx, binder, *shared);
  };
}

}  // namespace berth::scheduler::volumes
