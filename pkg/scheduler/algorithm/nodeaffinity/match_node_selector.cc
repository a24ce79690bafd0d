#include <algorithm>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/nodeaffinity/label_matcher.h"
#include "pkg/scheduler/algorithm/nodeaffinity/named_nodes.h"
#include "pkg/scheduler/algorithm/nodeaffinity/nodeaffinity.h"
#include "pkg/scheduler/algorithm/reasons.h"

namespace berth::scheduler::nodeaffinity {
namespace {

// For fewer rows than this, matching the labels of every row is cheaper than preparing answers by label value.
constexpr size_t kFewRows = 16;

// What two releases do differently with the terms of the required node affinity.
struct TermRules {
  // Returns whether one of the terms selects the node.
  bool (*any_selects)(const std::vector<api::NodeSelectorTerm>& terms, const api::Node& node);
  // Returns whether the labels of a node alone, by match.selector, decide about the term.
  bool (*labels_decide)(const api::NodeSelectorTerm& term);
};

// MatchNodeSelector: a node fits if its labels match the nodeSelector and one term of the required node affinity. An
// absent list of required terms restricts nothing; a list that is present but empty matches no node. Source:
// PodMatchNodeSelector in pkg/scheduler/algorithm/predicates/predicates.go (1.10).
class NodeSelectorCheck final : public ColumnCheck {
 public:
  bool FitsAlways() const override { return required_ == nullptr && selector_.Empty(); }
  NodeSelectorCheck(const Cache& cache, const api::PodTemplate& t, const TermRules& rules)
      : rules_(rules),
        cache_(cache),
        selector_(api::Selector::FromMapValidated(t.node_selector)),
        required_(t.affinity.node && t.affinity.node->required ? &*t.affinity.node->required : nullptr) {}

  Verdict Check(Row row) override {
    const api::Node& node = *cache_.row(row).node;
    if (!selector_.Matches(node.labels)) return Verdict::kFails;
    return required_ == nullptr || rules_.any_selects(required_->terms, node) ? Verdict::kFits : Verdict::kFails;
  }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }
  int ReasonBits() const override { return 1; }
  // Evictions do not change labels, so pods that are simulated on a node make no difference.
  bool ReadsOnlyAmounts() const override { return true; }
  void NumberReasons(std::span<const Row> rows, const AddedAmounts* beside, std::span<uint32_t> numbers) override {
    std::vector<Row> named;
    if (rows.size() >= kFewRows && NamedCandidates(required_, cache_, &named)) return NumberNamed(rows, named, numbers);
    if (rows.size() < kFewRows || !Compile()) return ColumnCheck::NumberReasons(rows, beside, numbers);
    NumberByFilter(this, cache_, rows, numbers);
  }
  bool NodeLabels(std::vector<const LabelColumn*>* columns) override {
    if (FitsAlways()) return true;
    if (!Compile()) return false;
    for (const LabelMatcher& m : matchers_) m.AppendColumns(columns);
    return true;
  }
  bool Candidates(std::vector<Row>* rows) override {
    return NamedCandidates(required_, cache_, rows) || (Compile() && CandidatesOf(matchers_, rows));
  }
  void Explain(Row, std::vector<FailureReason>* out) override { out->push_back(reasons::kNodeSelectorNotMatch); }
  void Filter(RowSet* candidates, RowSet* errors) override {
    if (FitsAlways()) return;
    if (!Compile()) {
      std::vector<Row> named;
      if (NamedCandidates(required_, cache_, &named)) NarrowToRows(named, cache_.row_count(), candidates);
      return FitCheck::Filter(candidates, errors);
    }
    if (required_ != nullptr && required_->terms.empty()) return candidates->Clear();
    KeepMatching(matchers_, cache_.row_count(), candidates);
  }
  // Selectors that cannot be answered from the label columns alone are left to Check.
  void KeepFitting(std::vector<Row>* rows) override {
    if (rows->size() < kFewRows || !Compile()) return ColumnCheck::KeepFitting(rows);
    if (required_ != nullptr && required_->terms.empty()) return rows->clear();
    KeepMatching(matchers_, rows);
  }

 private:
  // NumberReasons where only the rows in `named` can fit.
  void NumberNamed(std::span<const Row> rows, const std::vector<Row>& named, std::span<uint32_t> numbers) {
    RowSet can_fit;
    can_fit.Resize(cache_.row_count());
    for (const Row row : named) can_fit.Insert(row);
    for (size_t i = 0; i < rows.size(); ++i) {
      numbers[i] = can_fit.Has(rows[i]) && Check(rows[i]) == Verdict::kFits ? 0 : 1;
    }
  }
  // Creates or updates the matchers. Returns false if a term is invalid or has matchFields, which need the node itself.
  bool Compile() {
    if (required_ != nullptr) {
      for (const api::NodeSelectorTerm& t : required_->terms) {
        if (!rules_.labels_decide(t)) return false;
      }
    }
    for (LabelMatcher& m : matchers_) m.Refresh();
    if (!matchers_.empty()) return true;
    matchers_.emplace_back(cache_, selector_);
    if (required_ == nullptr) return true;
    for (const api::NodeSelectorTerm& t : required_->terms) matchers_.emplace_back(cache_, t.match.selector);
    return true;
  }

  const TermRules& rules_;
  const Cache& cache_;
  api::Selector selector_;
  const api::NodeSelector* required_;
  std::vector<LabelMatcher> matchers_;  // empty, or that of the nodeSelector and then one for each required term
};

}  // namespace

// A term with several values for metadata.name is invalid and selects nothing.
bool TermMatches(const api::NodeSelectorTerm& term, const api::Node& node) {
  for (const api::FieldRequirement& f : term.fields) {
    if (f.key.str() != "metadata.name" || f.values.size() != 1) return false;
    const bool is_named = f.values[0].str() == node.meta.name;
    if (!(f.op == "In" ? is_named : f.op == "NotIn" && !is_named)) return false;
  }
  // A term without expressions and fields selects nothing.
  return (!term.fields.empty() && !term.has_expressions) || term.match.selector.Matches(node.labels);
}

bool TermsMatch(const std::vector<api::NodeSelectorTerm>& terms, const api::Node& node) {
  for (const api::NodeSelectorTerm& t : terms) {
    if (!t.match.ok()) return false;
    if (TermMatches(t, node)) return true;
  }
  return false;
}

FitPredicate MatchNodeSelector(const PluginFactoryArgs&) {
  static const TermRules kRules = {
      .any_selects = TermsMatch,
      .labels_decide = [](const api::NodeSelectorTerm& t) { return t.match.ok() && t.fields.empty(); },
  };
  return [](const PodContext& ctx) { return std::make_unique<NodeSelectorCheck>(ctx.cache, *ctx.pod.tmpl, kRules); };
}

FitPredicate MatchNodeSelectorWithFields(const PluginFactoryArgs&) {
  static const TermRules kRules = {
      .any_selects =
          [](const std::vector<api::NodeSelectorTerm>& terms, const api::Node& node) {
            return std::any_of(terms.begin(), terms.end(), [&](const auto& t) { return ValidTermMatches(t, node); });
          },
      .labels_decide =
          [](const api::NodeSelectorTerm& t) {
            return t.problems.empty() && t.has_expressions && t.fields.empty() && t.match.ok();
          },
  };
  return [](const PodContext& ctx) { return std::make_unique<NodeSelectorCheck>(ctx.cache, *ctx.pod.tmpl, kRules); };
}

}  // namespace berth::scheduler::nodeaffinity
