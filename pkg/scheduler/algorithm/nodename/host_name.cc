#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/nodename/nodename.h"
#include "pkg/scheduler/algorithm/reasons.h"

namespace berth::scheduler::nodename {
namespace {

// HostName and NodeName: a node fits if spec.nodeName is empty or its name. A pod that waits in the queue has no node
// name and therefore fits everywhere. Source: PodFitsHost in pkg/scheduler/algorithm/predicates/predicates.go (1.10)
// and pkg/scheduler/framework/plugins/nodename/node_name.go (1.29).
class HostNameCheck final : public ColumnCheck {
 public:
  bool FitsAlways() const override { return wanted_.empty(); }
  HostNameCheck(const Cache& cache, Symbol wanted, const FailureReason& reason)
      : cache_(cache), wanted_(wanted), reason_(reason) {}

  Verdict Check(Row row) override {
    return wanted_.empty() || cache_.row(row).name == wanted_ ? Verdict::kFits : Verdict::kFails;
  }
  int ReasonBits() const override { return 1; }
  bool ReadsOnlyAmounts() const override { return true; }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reason_); }
  void Filter(RowSet* candidates, RowSet* errors) override {
    if (!FitsAlways()) FitCheck::Filter(candidates, errors);
  }

 private:
  const Cache& cache_;
  Symbol wanted_;
  const FailureReason& reason_;
};

FitPredicate WithReason(const FailureReason& reason) {
  return [&reason](const PodContext& ctx) {
    return std::make_unique<HostNameCheck>(ctx.cache, ctx.pod.node_name, reason);
  };
}

}  // namespace

FitPredicate HostName(const PluginFactoryArgs&) {
  return WithReason(reasons::kPodNotMatchHostName);
}

FitPredicate NodeName(const PluginFactoryArgs&) {
  return WithReason(reasons::kOtherNode);
}

}  // namespace berth::scheduler::nodename
