#include "pkg/scheduler/algorithm/nodeaffinity/nodeaffinity.h"
#include "pkg/scheduler/algorithm/reasons.h"

namespace berth::scheduler::nodeaffinity {
namespace {

class NodeSelectorCheck final : public FitCheck {
 public:
  bool FitsAlways() const override { return required_ == nullptr && selector_.Empty(); }
  NodeSelectorCheck(const Cache& cache, const api::PodTemplate& t)
      : cache_(cache),
        selector_(api::Selector::FromMapValidated(t.node_selector)),
        required_(t.affinity.node && t.affinity.node->required ? &*t.affinity.node->required : nullptr) {}

  Verdict Check(Row row) override {
    const api::Labels& labels = cache_.row(row).node->labels;
    if (!selector_.Matches(labels)) return Verdict::kFails;
    return required_ == nullptr || TermsMatch(required_->terms, labels) ? Verdict::kFits : Verdict::kFails;
  }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reasons::kNodeSelectorNotMatch); }
  void Filter(RowSet* candidates, RowSet* errors) override {
    if (!FitsAlways()) FitCheck::Filter(candidates, errors);
  }

 private:
  const Cache& cache_;
  api::Selector selector_;
  const api::NodeSelector* required_;
};

}  // namespace

bool TermsMatch(const std::vector<api::NodeSelectorTerm>& terms, const api::Labels& labels) {
  for (const api::NodeSelectorTerm& t : terms) {
    if (!t.match.ok()) return false;
    if (t.match.selector.Matches(labels)) return true;
  }
  return false;
}

FitPredicate MatchNodeSelector(const PluginFactoryArgs&) {
  return [](const PodContext& ctx) { return std::make_unique<NodeSelectorCheck>(ctx.cache, *ctx.pod.tmpl); };
}

}  // namespace berth::scheduler::nodeaffinity
