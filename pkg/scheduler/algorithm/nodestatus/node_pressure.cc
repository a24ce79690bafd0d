#include "pkg/scheduler/algorithm/nodestatus/nodestatus.h"
#include "pkg/scheduler/algorithm/reasons.h"

namespace berth::scheduler::nodestatus {
namespace {

class PressureCheck final : public FitCheck {
 public:
  PressureCheck(const Cache& cache, uint8_t flag, const FailureReason& reason)
      : cache_(cache), flag_(flag), reason_(reason) {}

  Verdict Check(Row row) override {
    return (cache_.columns().flags[row] & flag_) != 0 ? Verdict::kFails : Verdict::kFits;
  }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reason_); }
  void Filter(RowSet* candidates, RowSet* errors) override {
    if (flag_ != 0) FitCheck::Filter(candidates, errors);
  }

 private:
  const Cache& cache_;
  uint8_t flag_;  // 0: nothing to avoid
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
