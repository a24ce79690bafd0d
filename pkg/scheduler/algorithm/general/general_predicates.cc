#include "pkg/scheduler/algorithm/general/general.h"
#include "pkg/scheduler/algorithm/nodeaffinity/nodeaffinity.h"
#include "pkg/scheduler/algorithm/nodename/nodename.h"
#include "pkg/scheduler/algorithm/nodeports/nodeports.h"
#include "pkg/scheduler/algorithm/noderesources/noderesources.h"

namespace berth::scheduler::general {
namespace {

class AllOfCheck final : public FitCheck {
 public:
  explicit AllOfCheck(std::vector<std::unique_ptr<FitCheck>> checks) : checks_(std::move(checks)) {}

  Verdict Check(Row row) override {
    for (auto& c : checks_) {
      if (c->Check(row) == Verdict::kFails) return Verdict::kFails;
    }
    return Verdict::kFits;
  }
  void Explain(Row row, std::vector<FailureReason>* out) override {
    if (checks_.size() == 1) return checks_[0]->Explain(row, out);
    for (auto& c : checks_) {
      if (c->Check(row) == Verdict::kFails) c->Explain(row, out);
    }
  }
  FreedNeed NeedsFreed(Row row) override {
    FreedNeed need;
    for (auto& c : checks_) need.And(c->NeedsFreed(row));
    return need;
  }
  void Filter(RowSet* candidates, RowSet* errors) override {
    for (auto& c : checks_) c->Filter(candidates, errors);
  }

 private:
  std::vector<std::unique_ptr<FitCheck>> checks_;
};

}  // namespace

FitPredicate GeneralPredicates(const PluginFactoryArgs& args) {
  std::vector<FitPredicate> parts = {noderesources::PodFitsResources(args), nodename::HostName(args),
                                     nodeports::PodFitsHostPorts(args), nodeaffinity::MatchNodeSelector(args)};
  return [parts](const PodContext& ctx) {
    std::vector<std::unique_ptr<FitCheck>> checks;
    for (const FitPredicate& p : parts) {
      std::unique_ptr<FitCheck> check = p(ctx);
      if (!check->FitsAlways()) checks.push_back(std::move(check));
    }
    return std::make_unique<AllOfCheck>(std::move(checks));
  };
}

}  // namespace berth::scheduler::general
