#include <algorithm>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/tainttoleration/tainttoleration.h"

namespace berth::scheduler::tainttoleration {
namespace {

// CheckNodeUnschedulable: a node fits if it is not cordoned or if the pod tolerates the taint for cordoned nodes.
// Source: CheckNodeUnschedulablePredicate in pkg/scheduler/algorithm/predicates/predicates.go (1.11 and later).
class UnschedulableCheck final : public ColumnCheck {
 public:
  explicit UnschedulableCheck(const PodContext& ctx) : cache_(ctx.cache) {
    const api::Taint taint{Symbol("node.kubernetes.io/unschedulable"), Symbol(""), Symbol("NoSchedule")};
    const auto& tolerations = ctx.pod.tmpl->tolerations;
    tolerated_ = std::any_of(tolerations.begin(), tolerations.end(),
                             [&](const api::Toleration& t) { return Tolerates(t, taint); });
  }
  Verdict Check(Row row) override {
    return (cache_.columns().flags[row] & Flags()) != 0 ? Verdict::kFails : Verdict::kFits;
  }
  void Filter(RowSet* candidates, RowSet*) override { EraseFlagged(cache_, Flags(), candidates); }
  void KeepFitting(std::vector<Row>* rows) override { EraseFlagged(cache_, Flags(), rows); }
  int ReasonBits() const override { return 1; }
  bool ReadsOnlyAmounts() const override { return true; }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reasons::kNodeUnschedulable); }

 private:
  // Returns the flags of rows that do not fit.
  uint8_t Flags() const { return tolerated_ ? 0 : kRowCordoned; }

  const Cache& cache_;
  bool tolerated_ = false;  // whether the pod tolerates the taint that cordoned nodes get
};

}  // namespace

FitPredicate CheckNodeUnschedulable(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) { return std::make_unique<UnschedulableCheck>(ctx); };
}

}  // namespace berth::scheduler::tainttoleration
