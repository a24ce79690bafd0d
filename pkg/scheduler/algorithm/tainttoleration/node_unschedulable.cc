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
  Verdict Check(Row row) override {
    return cache_.row(row).node->unschedulable && !tolerated_ ? Verdict::kFails : Verdict::kFits;
  }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(kUnschedulable); }
  int ReasonBits() const override { return 1; }
  bool ReadsOnlyAmounts() const override { return true; }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }

 private:
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
