#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/general/general.h"

#include <algorithm>

#include "pkg/scheduler/algorithm/nodeaffinity/nodeaffinity.h"
#include "pkg/scheduler/algorithm/nodename/nodename.h"
#include "pkg/scheduler/algorithm/nodeports/nodeports.h"
#include "pkg/scheduler/algorithm/noderesources/noderesources.h"

namespace berth::scheduler::general {
namespace {

// A predicate that fits where all of its parts fit. Unlike other predicates, it does not stop at the first part that
// fails: the reasons of all parts are reported, in the order of the parts. Source: GeneralPredicates in
// pkg/scheduler/algorithm/predicates/predicates.go (1.10). REQUIRES: no part has errors.
class AllOfCheck final : public ColumnCheck {
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
  // The number of a row consists of the numbers of the parts, side by side.
  int ReasonBits() const override {
    int bits = 0;
    for (const auto& c : checks_) {
      const int own = berth::scheduler::ReasonBits(*c);
      if (own == 0) return 0;
      bits += own;
    }
    return bits <= 32 ? bits : 0;
  }
  void NumberReasons(std::span<const Row> rows, const AddedAmounts* beside, std::span<uint32_t> numbers) override {
    if (checks_.size() == 1) return berth::scheduler::NumberReasons(*checks_[0], rows, beside, numbers);
    std::fill(numbers.begin(), numbers.end(), 0);
    std::vector<uint32_t> own(rows.size());
    int shift = 0;
    for (auto& c : checks_) {
      berth::scheduler::NumberReasons(*c, rows, beside, own);
      for (size_t i = 0; i < rows.size(); ++i) numbers[i] |= own[i] << shift;
      shift += berth::scheduler::ReasonBits(*c);
    }
  }
  bool ReadsOnlyAmounts() const override {
    return std::all_of(checks_.begin(), checks_.end(),
                       [](const auto& c) { return berth::scheduler::ReadsOnlyAmounts(*c); });
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

FitPredicate AllOf(std::vector<FitPredicate> parts) {
  return [parts = std::move(parts)](const PodContext& ctx) {
    std::vector<std::unique_ptr<FitCheck>> checks;
    // Parts that do not apply to the pod are left out, so that most pods have one part, PodFitsResources.
    for (const FitPredicate& p : parts) {
      std::unique_ptr<FitCheck> check = p(ctx);
      if (!check->FitsAlways()) checks.push_back(std::move(check));
    }
    return std::make_unique<AllOfCheck>(std::move(checks));
  };
}

}  // namespace

FitPredicate GeneralPredicates(const PluginFactoryArgs& args) {
  return AllOf({noderesources::PodFitsResources(args), nodename::HostName(args), nodeports::PodFitsHostPorts(args),
                nodeaffinity::MatchNodeSelector(args)});
}

FitPredicate GeneralPredicatesByPortNumber(const PluginFactoryArgs& args) {
  return AllOf({noderesources::PodFitsResources(args), nodename::HostName(args),
                nodeports::PodFitsHostPortNumbers(args), nodeaffinity::MatchNodeSelector(args)});
}

FitPredicate GeneralPredicatesWithFields(const PluginFactoryArgs& args) {
  return AllOf({noderesources::PodFitsResources(args), nodename::HostName(args), nodeports::PodFitsHostPorts(args),
                nodeaffinity::MatchNodeSelectorWithFields(args)});
}

}  // namespace berth::scheduler::general
