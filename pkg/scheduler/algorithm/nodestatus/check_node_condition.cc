#include <map>
#include <vector>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/nodestatus/nodestatus.h"
#include "pkg/scheduler/algorithm/reasons.h"

namespace berth::scheduler::nodestatus {
namespace {

const Symbol kTrue("True"), kFalse("False"), kReady("Ready"), kOutOfDisk("OutOfDisk"),
    kNetworkUnavailable("NetworkUnavailable");

// CheckNodeCondition: a node fits if it is not cordoned and reports Ready as True and OutOfDisk and NetworkUnavailable
// as False. The status Unknown fails, but conditions that the node does not report pass, even a missing Ready.
// Duplicate conditions produce duplicate reasons. The cache evaluates the conditions when a node changes and keeps the
// result as the flag kRowConditionBad. Source: CheckNodeConditionPredicate in
// pkg/scheduler/algorithm/predicates/predicates.go (1.10).
class NodeConditionCheck final : public ColumnCheck {
 public:
  explicit NodeConditionCheck(const Cache& cache) : cache_(cache) {}

  Verdict Check(Row row) override {
    return (cache_.columns().flags[row] & kRowConditionBad) != 0 ? Verdict::kFails : Verdict::kFits;
  }
  void Filter(RowSet* candidates, RowSet*) override { EraseFlagged(cache_, kRowConditionBad, candidates); }
  void KeepFitting(std::vector<Row>* rows) override { EraseFlagged(cache_, kRowConditionBad, rows); }
  bool ReadsOnlyAmounts() const override { return true; }
  // Each distinct list of reasons gets the next number.
  int ReasonBits() const override { return 31; }
  void NumberReasons(std::span<const Row> rows, const AddedAmounts*, std::span<uint32_t> numbers) override {
    std::vector<FailureReason> reasons;
    for (size_t i = 0; i < rows.size(); ++i) {
      numbers[i] = 0;
      if (Check(rows[i]) == Verdict::kFits) continue;
      reasons.clear();
      Explain(rows[i], &reasons);
      numbers[i] = numbers_.try_emplace(reasons, static_cast<uint32_t>(numbers_.size() + 1)).first->second;
    }
  }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }
  void Explain(Row row, std::vector<FailureReason>* out) override {
    const api::Node& node = *cache_.row(row).node;
    for (const api::NodeCondition& c : node.conditions) {
      if (c.type == kReady && c.status != kTrue) {
        out->push_back(reasons::kNodeNotReady);
      } else if (c.type == kOutOfDisk && c.status != kFalse) {
        out->push_back(reasons::kNodeOutOfDisk);
      } else if (c.type == kNetworkUnavailable && c.status != kFalse) {
        out->push_back(reasons::kNodeNetworkUnavailable);
      }
    }
    if (node.unschedulable) out->push_back(reasons::kNodeUnschedulable);
  }

 private:
  const Cache& cache_;
  std::map<std::vector<FailureReason>, uint32_t> numbers_;
};

}  // namespace

FitPredicate CheckNodeCondition(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) { return std::make_unique<NodeConditionCheck>(ctx.cache); };
}

}  // namespace berth::scheduler::nodestatus
