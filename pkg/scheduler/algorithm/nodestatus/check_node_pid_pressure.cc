#include <algorithm>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/nodestatus/nodestatus.h"
#include "pkg/scheduler/algorithm/reasons.h"

namespace berth::scheduler::nodestatus {
namespace {

const Symbol kPidPressure("PIDPressure"), kConditionTrue("True");

// CheckNodePIDPressure: a node fits unless it reports PIDPressure as True. Source: CheckNodePIDPressurePredicate in
// pkg/scheduler/algorithm/predicates/predicates.go (1.11).
class PidPressureCheck final : public ColumnCheck {
 public:
  explicit PidPressureCheck(const Cache& cache) : cache_(cache) {}

  Verdict Check(Row row) override {
    const auto& conditions = cache_.row(row).node->conditions;
    bool pressure = std::any_of(conditions.begin(), conditions.end(), [](const api::NodeCondition& c) {
      return c.type == kPidPressure && c.status == kConditionTrue;
    });
    return pressure ? Verdict::kFails : Verdict::kFits;
  }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }
  int ReasonBits() const override { return 1; }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reasons::kNodeUnderPidPressure); }

 private:
  const Cache& cache_;
};

}  // namespace

FitPredicate CheckNodePidPressure(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) { return std::make_unique<PidPressureCheck>(ctx.cache); };
}

}  // namespace berth::scheduler::nodestatus
