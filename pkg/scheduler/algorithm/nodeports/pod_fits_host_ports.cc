#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/nodeports/nodeports.h"
#include "pkg/scheduler/algorithm/reasons.h"

namespace berth::scheduler::nodeports {
namespace {

// PodFitsHostPorts and NodePorts: a node fits if none of the host ports of the pod is in use there. Two containers of
// the pod that want the same port do not conflict with each other. Source: PodFitsHostPorts in
// pkg/scheduler/algorithm/predicates/predicates.go (1.10) and pkg/scheduler/framework/plugins/nodeports/node_ports.go
// (1.29).
class HostPortsCheck final : public ColumnCheck {
 public:
  bool FitsAlways() const override { return wanted_.empty(); }
  HostPortsCheck(const Cache& cache, const std::vector<HostPort>& wanted, bool by_number)
      : cache_(cache), wanted_(wanted), by_number_(by_number) {}

  Verdict Check(Row row) override {
    const HostPorts& used = cache_.row(row).ports;
    if (!used.empty()) {
      for (const HostPort& p : wanted_) {
        if (by_number_ ? used.HasNumber(p.port) : used.Conflicts(p)) return Verdict::kFails;
      }
    }
    return Verdict::kFits;
  }
  int ReasonBits() const override { return 1; }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reasons::kPodNotFitsHostPorts); }
  FreedNeed NeedsFreed(Row) override {
    FreedNeed need;
    need.known = wanted_.empty();
    return need;
  }
  void Filter(RowSet* candidates, RowSet* errors) override {
    if (!FitsAlways()) FitCheck::Filter(candidates, errors);
  }

 private:
  const Cache& cache_;
  const std::vector<HostPort>& wanted_;
  const bool by_number_;  // 1.8
};

}  // namespace

FitPredicate PodFitsHostPorts(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) { return std::make_unique<HostPortsCheck>(ctx.cache, ctx.info.host_ports, false); };
}

FitPredicate PodFitsHostPortNumbers(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) { return std::make_unique<HostPortsCheck>(ctx.cache, ctx.info.host_ports, true); };
}

}  // namespace berth::scheduler::nodeports
