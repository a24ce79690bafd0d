// The plugin NodeLabel of release 1.19: Filter and Score. Source:
// pkg/scheduler/framework/plugins/nodelabel/node_label.go.
#include <algorithm>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/nodelabel/nodelabel.h"
#include "pkg/scheduler/algorithm/reasons.h"

namespace berth::scheduler::nodelabel {
namespace {

using Labels = std::vector<Symbol>;

int64_t NumberOn(const api::Node& node, const Labels& labels) {
  return std::count_if(labels.begin(), labels.end(), [&](Symbol label) { return node.labels.Has(label); });
}

class LabelsCheck final : public ColumnCheck {
 public:
  LabelsCheck(const Cache& cache, const Labels& present, const Labels& absent)
      : cache_(cache), present_(present), absent_(absent) {}

  bool FitsAlways() const override { return present_.empty() && absent_.empty(); }
  Verdict Check(Row row) override {
    const api::Node& node = *cache_.row(row).node;
    const bool fits = NumberOn(node, present_) == static_cast<int64_t>(present_.size()) && NumberOn(node, absent_) == 0;
    return fits ? Verdict::kFits : Verdict::kFails;
  }
  int ReasonBits() const override { return 1; }
  bool ReadsOnlyAmounts() const override { return true; }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reasons::kNodeLabelPresenceViolated); }

 private:
  const Cache& cache_;
  const Labels &present_, &absent_;
};

// Without preferences every node scores 0; upstream divides by zero and crashes (fixed).
class LabelsScoring final : public Scoring {
 public:
  LabelsScoring(const Cache& cache, const Labels& present, const Labels& absent, int64_t max_score)
      : cache_(cache), present_(present), absent_(absent), max_score_(max_score) {}
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    const auto all = static_cast<int64_t>(present_.size() + absent_.size()),
               absent = static_cast<int64_t>(absent_.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      const api::Node& node = *cache_.row(rows[i]).node;
      scores[i] = all == 0 ? 0 : max_score_ * (NumberOn(node, present_) + absent - NumberOn(node, absent_)) / all;
    }
    return absl::OkStatus();
  }

 private:
  const Cache& cache_;
  const Labels &present_, &absent_;
  int64_t max_score_;
};

}  // namespace

FitPredicate NodeLabels(const PluginFactoryArgs&, std::vector<Symbol> present, std::vector<Symbol> absent) {
  auto shared = std::make_shared<const std::pair<Labels, Labels>>(std::move(present), std::move(absent));
  return [shared](const PodContext& ctx) {
    return std::make_unique<LabelsCheck>(ctx.cache, shared->first, shared->second);
  };
}

PriorityFunction NodeLabelsPreference(const PluginFactoryArgs& args, std::vector<Symbol> present,
                                      std::vector<Symbol> absent) {
  auto shared = std::make_shared<const std::pair<Labels, Labels>>(std::move(present), std::move(absent));
  return [shared, max = args.max_score](const PodContext& ctx) {
    return std::make_unique<LabelsScoring>(ctx.cache, shared->first, shared->second, max);
  };
}

}  // namespace berth::scheduler::nodelabel
