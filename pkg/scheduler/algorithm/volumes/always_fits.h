// Stands in for a predicate about volumes whose feature gate is off.
#pragma once
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::volumes {

class AlwaysFits final : public FitCheck {
 public:
  bool FitsAlways() const override { return true; }
  Verdict Check(Row) override { return Verdict::kFits; }
  void Explain(Row, std::vector<FailureReason>*) override {}
  void Filter(RowSet*, RowSet*) override {}
};

}  // namespace berth::scheduler::volumes
