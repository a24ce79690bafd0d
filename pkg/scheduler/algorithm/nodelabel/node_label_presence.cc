#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/nodelabel/nodelabel.h"
#include "pkg/scheduler/algorithm/reasons.h"

namespace berth::scheduler::nodelabel {
namespace {

// labelsPresence: a node fits if it has all of the labels, or none of them. Values are irrelevant, and an empty list of
// labels fits every node. Source: CheckNodeLabelPresence in pkg/scheduler/algorithm/predicates/predicates.go (1.10).
class LabelPresenceCheck final : public ColumnCheck {
 public:
  LabelPresenceCheck(const Cache& cache, const std::vector<Symbol>& labels, bool presence)
      : cache_(cache), labels_(labels), presence_(presence) {}

  Verdict Check(Row row) override {
    for (Symbol label : labels_) {
      if (cache_.row(row).node->labels.Has(label) != presence_) return Verdict::kFails;
    }
    return Verdict::kFits;
  }
  int ReasonBits() const override { return 1; }
  bool ReadsOnlyAmounts() const override { return true; }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reasons::kNodeLabelPresenceViolated); }

 private:
  const Cache& cache_;
  const std::vector<Symbol>& labels_;
  bool presence_;
};

}  // namespace

FitPredicate NodeLabelPresence(std::vector<Symbol> labels, bool presence) {
  auto shared = std::make_shared<const std::vector<Symbol>>(std::move(labels));
  return [shared, presence](const PodContext& ctx) {
    return std::make_unique<LabelPresenceCheck>(ctx.cache, *shared, presence);
  };
}

}  // namespace berth::scheduler::nodelabel
