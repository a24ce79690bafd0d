#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/volumes/always_fits.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"
#include "pkg/scheduler/volumebinder/claim_matcher.h"
#include "pkg/util/contract.h"
#include "pkg/util/status.h"

namespace berth::scheduler::volumes {
namespace {

// CheckVolumeBinding: a node fits if the volumes of all bound claims can be used there and every unbound claim finds a
// volume. Both reasons may be reported for a node. An unbound claim that does not wait for the first consumer is an
// error on every node. Source: VolumeBindingChecker in pkg/scheduler/algorithm/predicates/predicates.go (1.10).
class VolumeBindingCheck final : public ColumnCheck {
 public:
  bool FitsAlways() const override { return claims().error.empty() && matcher_.FitsAnywhere(); }
  bool MayError() const override { return !claims().error.empty() || !matcher_.NeverFails(); }
  VolumeBindingCheck(const PodContext& ctx, const VolumeBinder* binder)
      : cache_(ctx.cache), matcher_(binder, binder->ClaimsOf(ctx.pod)) {}

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
  RuleError Error(Row row) override { return Ask(row).error; }
  bool ErrsAlike() const override { return !claims().error.empty(); }
  void Filter(RowSet* candidates, RowSet* errors) override {
    if (FitsAlways()) return;
    if (ErrsAlike()) return ErrOnAll(candidates, errors);
    if (MayError()) return FitCheck::Filter(candidates, errors);
    matcher_.KeepBoundFit(cache_, candidates);
    matcher_.KeepMatched(cache_, candidates);
  }
  // One bit for the bound claims, and one for the others.
  int ReasonBits() const override { return 2; }
  void NumberReasons(std::span<const Row> rows, const AddedAmounts*, std::span<uint32_t> numbers) override {
    BERTH_REQUIRES(!MayError());
    RowSet bound_ok;
    bound_ok.Resize(cache_.row_count());
    for (const Row row : rows) bound_ok.Insert(row);
    RowSet unbound_ok = bound_ok;
    matcher_.KeepBoundFit(cache_, &bound_ok);
    matcher_.KeepMatched(cache_, &unbound_ok);
    for (size_t i = 0; i < rows.size(); ++i) {
      numbers[i] = (bound_ok.Has(rows[i]) ? 0u : 1u) | (unbound_ok.Has(rows[i]) ? 0u : 2u);
    }
  }

 private:
  // What the volume binder answers for one node.
  struct Answer {
    bool bound_ok = true, unbound_ok = true;
    RuleError error;
  };
  const VolumeBinder::PodClaims& claims() const { return matcher_.claims(); }
  Answer Ask(Row row) const {
    Answer a;
    a.error = {claims().error, claims().claim_is_missing ? reasons::kNoClaim : Symbol()};
    if (!a.error.empty()) return a;
    const api::Labels& labels = cache_.row(row).node->labels;
    auto bound = matcher_.BoundFit(labels);
    if (!bound.ok()) {
      a.error = util::Message(bound.status());
      return a;
    }
    a.bound_ok = *bound;
    auto match = matcher_.CanMatch(labels);
    if (!match.ok()) {
      a.error = util::Message(match.status());
    } else {
      a.unbound_ok = *match;
    }
    return a;
  }

  const Cache& cache_;
  ClaimMatcher matcher_;
};

}  // namespace

FitPredicate CheckVolumeBinding(const PluginFactoryArgs& args) {
  const VolumeBinder* binder = args.gates.volume_scheduling ? args.volume_binder : nullptr;
  return [binder](const PodContext& ctx) -> std::unique_ptr<FitCheck> {
    if (binder == nullptr) return std::make_unique<AlwaysFits>();
    return std::make_unique<VolumeBindingCheck>(ctx, binder);
  };
}

}  // namespace berth::scheduler::volumes
