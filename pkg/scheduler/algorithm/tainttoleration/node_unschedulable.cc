#include <algorithm>

#include "pkg/scheduler/algorithm/tainttoleration/tainttoleration.h"

#include "pkg/scheduler/algorithm/column_check.h"

namespace berth::scheduler::tainttoleration {
namespace {

const FailureReason kUnschedulable{Symbol("node(s) were unschedulable"), true};

// NodeUnschedulable: a node fits if it is not cordoned or if the pod tolerates the taint for cordoned nodes, even if
// the taint itself is missing. Source: pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go (1.29).
class CordonCheck final : public ColumnCheck {
 public:
  CordonCheck(const PodContext& ctx, TolerationRules rules) : cache_(ctx.cache) {
    const api::Taint cordon{Symbol("node.kubernetes.io/unschedulable"), Symbol(), Symbol("NoSchedule")};
    const auto& tolerations = ctx.pod.tmpl->tolerations;
    tolerated_ = std::any_of(tolerations.begin(), tolerations.end(),
                             [&](const api::Toleration& t) { return Tolerates(t, cordon, rules); });
  }
  bool FitsAlways() const override { return tolerated_; }
  Verdict Check(Row row) override { return !tolerated_ && Cordoned(row) ? Verdict::kFails : Verdict::kFits; }
  void NumberReasons(std::span<const Row> rows, const AddedAmounts*, std::span<uint32_t> numbers) override {
    for (size_t i = 0; i < rows.size(); ++i) numbers[i] = !tolerated_ && Cordoned(rows[i]) ? 1 : 0;
  }
  void Filter(RowSet* candidates, RowSet*) override { EraseFlagged(cache_, Flags(), candidates); }
  void KeepFitting(std::vector<Row>* rows) override { EraseFlagged(cache_, Flags(), rows); }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(kUnschedulable); }
  int ReasonBits() const override { return 1; }
  bool ReadsOnlyAmounts() const override { return true; }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }

 private:
  bool Cordoned(Row row) const { return (cache_.columns().flags[row] & kRowCordoned) != 0; }
  // Returns the flags of rows that do not fit.
  uint8_t Flags() const { return tolerated_ ? 0 : kRowCordoned; }

  const Cache& cache_;
  bool tolerated_;
};

}  // namespace

FitPredicate NodeUnschedulable(const PluginFactoryArgs& args) {
  return NodeUnschedulableBy(args, {});
}

FitPredicate NodeUnschedulableBy(const PluginFactoryArgs&, TolerationRules rules) {
  return [rules](const PodContext& ctx) { return std::make_unique<CordonCheck>(ctx, rules); };
}

}  // namespace berth::scheduler::tainttoleration
