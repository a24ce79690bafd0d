// The plugin NodeDeclaredFeatures. Source: pkg/scheduler/framework/plugins/nodedeclaredfeatures (1.36). The features
// that a pod needs are found when it is decoded.
#include <algorithm>

#include "pkg/scheduler/algorithm/nodefeatures/nodefeatures.h"

#include "pkg/scheduler/algorithm/column_check.h"

namespace berth::scheduler::nodefeatures {
namespace {

const FailureReason kNotDeclared{Symbol("node(s) didn't match Pod's required features"), true};

class FeaturesCheck final : public ColumnCheck {
 public:
  explicit FeaturesCheck(const PodContext& ctx) : cache_(ctx.cache), needed_(ctx.pod.tmpl->node_features) {}
  bool FitsAlways() const override { return needed_.empty(); }
  Verdict Check(Row row) override {
    const auto& declared = cache_.row(row).node->declared_features;
    const bool all = std::all_of(needed_.begin(), needed_.end(), [&](Symbol feature) {
      return std::find(declared.begin(), declared.end(), feature) != declared.end();
    });
    return all ? Verdict::kFits : Verdict::kFails;
  }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(kNotDeclared); }
  int ReasonBits() const override { return 1; }
  bool ReadsOnlyAmounts() const override { return true; }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }

 private:
  const Cache& cache_;
  const std::vector<Symbol>& needed_;
};

}  // namespace

FitPredicate DeclaredFeatures(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) { return std::make_unique<FeaturesCheck>(ctx); };
}

}  // namespace berth::scheduler::nodefeatures
