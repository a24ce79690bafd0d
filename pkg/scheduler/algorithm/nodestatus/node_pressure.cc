#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/nodestatus/nodestatus.h"
#include "pkg/scheduler/algorithm/reasons.h"

namespace berth::scheduler::nodestatus {
namespace {

// CheckNodeMemoryPressure and CheckNodeDiskPressure: a node fits unless it reports the pressure as True. Memory
// pressure only concerns best-effort pods. A condition that the node no longer reports has no effect (bug B-02, fixed).
// Source: CheckNodeMemoryPressurePredicate and CheckNodeDiskPressurePredicate in
// pkg/scheduler/algorithm/predicates/predicates.go (1.10).
class PressureCheck final : public ColumnCheck {
 public:
  PressureCheck(const Cache& cache, uint8_t flag, const FailureReason& reason)
      : cache_(cache), flag_(flag), reason_(reason) {}

  Verdict Check(Row row) override {
    return (cache_.columns().flags[row] & flag_) != 0 ? Verdict::kFails : Verdict::kFits;
  }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reason_); }
  int ReasonBits() const override { return 1; }
  bool ReadsOnlyAmounts() const override { return true; }
  bool FitsAlways() const override { return flag_ == 0; }
  void Filter(RowSet* candidates, RowSet*) override { EraseFlagged(cache_, flag_, candidates); }
  void KeepFitting(std::vector<Row>* rows) override { EraseFlagged(cache_, flag_, rows); }

 private:
  const Cache& cache_;
  uint8_t flag_;  // a RowFlag; 0 if the rule does not concern the pod
  FailureReason reason_;
};

}  // namespace

FitPredicate CheckNodeMemoryPressure(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) {
    uint8_t flag = ctx.info.best_effort ? uint8_t{kRowMemoryPressure} : uint8_t{0};
    return std::make_unique<PressureCheck>(ctx.cache, flag, reasons::kNodeUnderMemoryPressure);
  };
}

FitPredicate CheckNodeDiskPressure(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) {
    return std::make_unique<PressureCheck>(ctx.cache, uint8_t{kRowDiskPressure}, reasons::kNodeUnderDiskPressure);
  };
}

}  // namespace berth::scheduler::nodestatus
