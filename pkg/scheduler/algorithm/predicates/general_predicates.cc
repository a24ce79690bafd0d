#include "pkg/scheduler/algorithm/predicates/predicates.h"

namespace berth::scheduler::predicates {
namespace {

class AllOfCheck final : public FitCheck {
 public:
  Scope scope() const override { return Scope::kRow; }
  explicit AllOfCheck(std::vector<std::unique_ptr<FitCheck>> checks) : checks_(std::move(checks)) {}
  std::vector<std::unique_ptr<FitCheck>> TakeParts() override { return std::move(checks_); }

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
  std::vector<FitPredicate> parts = {PodFitsResources(args), HostName(args), PodFitsHostPorts(args),
                                     MatchNodeSelector(args)};
  return [parts](const PodContext& ctx) {
    std::vector<std::unique_ptr<FitCheck>> checks;
    for (const FitPredicate& p : parts) {
      std::unique_ptr<FitCheck> check = p(ctx);
      if (!check->FitsAlways()) checks.push_back(std::move(check));
    }
    return std::make_unique<AllOfCheck>(std::move(checks));
  };
}

}  // namespace berth::scheduler::predicates
