#include "pkg/scheduler/algorithm/nodename/nodename.h"
#include "pkg/scheduler/algorithm/reasons.h"

namespace berth::scheduler::nodename {
namespace {

class HostNameCheck final : public FitCheck {
 public:
  bool FitsAlways() const override { return wanted_.empty(); }
  HostNameCheck(const Cache& cache, Symbol wanted) : cache_(cache), wanted_(wanted) {}

  Verdict Check(Row row) override {
    return wanted_.empty() || cache_.row(row).name == wanted_ ? Verdict::kFits : Verdict::kFails;
  }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }
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

}  // namespace berth::scheduler::nodename
