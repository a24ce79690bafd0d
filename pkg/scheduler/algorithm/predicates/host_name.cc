#include "pkg/scheduler/algorithm/predicates/predicates.h"
#include "pkg/scheduler/algorithm/predicates/reasons.h"

namespace berth::scheduler::predicates {
namespace {

class HostNameCheck final : public FitCheck {
 public:
  Scope scope() const override { return Scope::kNode; }
  bool FitsAlways() const override { return wanted_.empty(); }
  HostNameCheck(const Cache& cache, Symbol wanted) : cache_(cache), wanted_(wanted) {}

  Verdict Check(Row row) override {
    return wanted_.empty() || cache_.row(row).name == wanted_ ? Verdict::kFits : Verdict::kFails;
  }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reasons::kPodNotMatchHostName); }
  void Filter(RowSet* candidates, RowSet* errors) override {
    if (!FitsAlways()) FitCheck::Filter(candidates, errors);
  }

 private:
  const Cache& cache_;
  Symbol wanted_;
};

}  // namespace

FitPredicate HostName(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) { return std::make_unique<HostNameCheck>(ctx.cache, ctx.pod.node_name); };
}

}  // namespace berth::scheduler::predicates
