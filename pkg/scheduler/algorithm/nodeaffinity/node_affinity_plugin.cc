// The plugin NodeAffinity of release 1.29: Filter and Score, and the Filter of 1.19. Source:
// pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>

#include "pkg/scheduler/algorithm/column_check.h"
#include "pkg/scheduler/algorithm/nodeaffinity/label_matcher.h"
#include "pkg/scheduler/algorithm/nodeaffinity/named_nodes.h"
#include "pkg/scheduler/algorithm/nodeaffinity/nodeaffinity.h"
#include "pkg/scheduler/algorithm/normalize.h"
#include "pkg/scheduler/algorithm/problem_list.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/util/contract.h"
#include "pkg/util/status.h"

namespace berth::scheduler::nodeaffinity {
namespace {

// For fewer rows than this, matching the labels of every row is cheaper than preparing answers by label value.
constexpr size_t kFewRows = 16;
const Symbol kMetadataName("metadata.name");
const FailureReason kOwnSelector{Symbol("node(s) didn't match node selector"), true};
const PodRejection kConflict{{Symbol("pod affinity terms conflict"), true}};

// Returns whether a preferred term counts. Upstream drops terms of weight 0 and empty terms before it parses the
// others.
bool Counts(const api::PreferredSchedulingTerm& t) {
  return t.weight != 0 && (t.preference.has_expressions || !t.preference.fields.empty());
}

// What the Filter does about the nodes that a pod's required terms name.
enum class NamedNodes : uint8_t { kLookUp, kIgnore };

// The Filter: a node fits if it matches the affinity that the profile adds, and the nodeSelector and required affinity
// of the pod. If each required term of the pod names nodes by metadata.name, only these nodes are examined. If the
// names contradict one another, the pod is rejected. With NamedNodes::kIgnore every node is examined (1.19).
class AffinityCheck final : public ColumnCheck {
 public:
  AffinityCheck(const PodContext& ctx, std::shared_ptr<const AddedAffinity> added, const FailureReason& own,
                NamedNodes named)
      : ctx_(ctx), added_(std::move(added)), own_(own), selector_(api::Selector::FromMap(ctx.pod.tmpl->node_selector)) {
    if (named == NamedNodes::kLookUp) FindNames();
  }

  bool FitsAlways() const override { return !added_->required && selector_.Empty() && Required() == nullptr; }
  PreFilterResult PreFilter() override {
    PreFilterResult result;
    if (names_) result.only_nodes = &*names_;
    if (names_ && names_->empty()) result.rejection = &kConflict;
    result.skip = FitsAlways();
    return result;
  }
  Verdict Check(Row row) override { return Why(row) == nullptr ? Verdict::kFits : Verdict::kFails; }
  void Explain(Row row, std::vector<FailureReason>* out) override { out->push_back(*Why(row)); }
  FreedNeed NeedsFreed(Row row) override { return Unchangeable(row); }
  bool ReadsOnlyAmounts() const override { return true; }
  // What the profile adds has a reason of its own.
  int ReasonBits() const override { return added_->required ? 0 : 1; }
  void NumberReasons(std::span<const Row> rows, const AddedAmounts* beside, std::span<uint32_t> numbers) override {
    if (rows.size() < kFewRows || !Compile()) return ColumnCheck::NumberReasons(rows, beside, numbers);
    NumberByFilter(this, ctx_.cache, rows, numbers);
  }
  bool NodeLabels(std::vector<const LabelColumn*>* columns) override {
    if (FitsAlways()) return true;
    if (!Compile()) return false;
    for (const LabelMatcher& m : matchers_) m.AppendColumns(columns);
    return true;
  }
  bool Candidates(std::vector<Row>* rows) override {
    return NamedCandidates(Required(), ctx_.cache, rows) || (Compile() && CandidatesOf(matchers_, rows));
  }
  void Filter(RowSet* candidates, RowSet* errors) override {
    if (FitsAlways()) return;
    if (!Compile()) {
      std::vector<Row> named;
      if (NamedCandidates(Required(), ctx_.cache, &named)) NarrowToRows(named, ctx_.cache.row_count(), candidates);
      return FitCheck::Filter(candidates, errors);
    }
    KeepMatching(matchers_, ctx_.cache.row_count(), candidates);
  }
  void KeepFitting(std::vector<Row>* rows) override {
    if (rows->size() < kFewRows || !Compile()) return ColumnCheck::KeepFitting(rows);
    KeepMatching(matchers_, rows);
  }

 private:
  // Returns the required affinity of the pod, or null if it has none.
  const api::NodeSelector* Required() const {
    const auto& own = ctx_.pod.tmpl->affinity.node;
    return own && own->required ? &*own->required : nullptr;
  }
  // Collects the nodes that the required terms name, if every term names some. Surprisingly, a list of several names is
  // accepted here, although Filter then treats the term as invalid and matches nothing.
  void FindNames() {
    const auto& own = ctx_.pod.tmpl->affinity.node;
    if (!own || !own->required || own->required->terms.empty()) return;
    std::vector<Symbol> all;
    for (const api::NodeSelectorTerm& term : own->required->terms) {
      std::optional<std::vector<Symbol>> named;
      for (const api::FieldRequirement& f : term.fields) {
        if (f.key != kMetadataName || f.op != "In") continue;
        std::vector<Symbol> here(f.values.begin(), f.values.end());
        if (named)
          std::erase_if(here, [&](Symbol n) { return std::find(named->begin(), named->end(), n) == named->end(); });
        named = std::move(here);
      }
      if (!named) return;  // this term may select any node
      all.insert(all.end(), named->begin(), named->end());
    }
    names_ = std::move(all);
  }
  // Returns the reason of the first check that fails, or null. The affinity of the profile is checked first.
  const FailureReason* Why(Row row) const {
    const api::Node& node = *ctx_.cache.row(row).node;
    if (added_->required && std::none_of(added_->required->begin(), added_->required->end(),
                                         [&](const auto& t) { return ValidTermMatches(t, node); })) {
      return &reasons::kEnforcedNodeAffinity;
    }
    return MeetsRequired(*ctx_.pod.tmpl, node) ? nullptr : &own_;
  }
  // Creates or updates the matchers. Returns false if not only labels decide.
  bool Compile() {
    if (added_->required) return false;
    const auto& own = ctx_.pod.tmpl->affinity.node;
    if (own && own->required) {
      if (own->required->terms.empty()) return false;
      for (const auto& t : own->required->terms) {
        if (!t.problems.empty() || !t.has_expressions || !t.fields.empty()) return false;
      }
    }
    for (LabelMatcher& m : matchers_) m.Refresh();
    if (!matchers_.empty()) return true;
    matchers_.emplace_back(ctx_.cache, selector_);
    if (!own || !own->required) return true;
    for (const auto& t : own->required->terms) matchers_.emplace_back(ctx_.cache, t.match.selector);
    return true;
  }

  PodContext ctx_;
  std::shared_ptr<const AddedAffinity> added_;
  const FailureReason& own_;  // why a node does not match the pod's own selector and affinity
  api::Selector selector_;
  std::vector<LabelMatcher> matchers_;
  std::optional<std::vector<Symbol>> names_;  // the only nodes that can fit, if restricted
};

// The Score: the sum of the weights of the matching preferred terms, those that the profile adds and those of the pod,
// normalised. An invalid term of the pod is an error of the scheduling cycle.
class AffinityScoring final : public Scoring {
 public:
  AffinityScoring(const PodContext& ctx, std::shared_ptr<const AddedAffinity> added, int64_t max_score)
      : ctx_(ctx), added_(std::move(added)), max_score_(max_score) {
    auto add = [&](const std::vector<api::PreferredSchedulingTerm>& terms) {
      for (const auto& t : terms) {
        if (Counts(t)) terms_.push_back(&t);
      }
    };
    add(added_->preferred);
    if (const auto& own = ctx.pod.tmpl->affinity.node) {
      add(own->preferred);
      for (size_t i = 0; i < own->preferred.size(); ++i) {
        if (!Counts(own->preferred[i])) continue;
        for (const std::string& p : own->preferred[i].preference.problems) {
          problems_.push_back(absl::StrCat("[", i, "].", p));
        }
      }
    }
    for (const auto* t : terms_) {
      by_label_ &= t->preference.problems.empty() && t->preference.has_expressions && t->preference.fields.empty();
    }
  }
  absl::Status Map(std::span<const Row> rows, std::span<int64_t> scores) override {
    if (!problems_.empty()) {
      return util::InvalidArgument("running PreScore plugin \"NodeAffinity\": " + ProblemList(problems_));
    }
    std::fill(scores.begin(), scores.end(), 0);
    const bool by_value = by_label_ && rows.size() >= 16;
    for (LabelMatcher& m : matchers_) m.Refresh();
    for (size_t t = 0; t < terms_.size(); ++t) {
      const api::PreferredSchedulingTerm& term = *terms_[t];
      if (by_value && matchers_.size() <= t) matchers_.emplace_back(ctx_.cache, term.preference.match.selector);
      if (by_value) {
        matchers_[t].AddWeight(rows, term.weight, scores);
        continue;
      }
      for (size_t i = 0; i < rows.size(); ++i) {
        if (ValidTermMatches(term.preference, *ctx_.cache.row(rows[i]).node)) scores[i] += term.weight;
      }
    }
    return absl::OkStatus();
  }
  bool OnePass() const override { return true; }
  bool NodeLabels(std::vector<const LabelColumn*>* columns) override {
    if (terms_.empty() && problems_.empty()) return true;
    if (!problems_.empty() || !by_label_) return false;
    const size_t before = columns->size();
    for (const auto* t : terms_) {
      for (const api::Requirement& r : t->preference.match.selector.requirements()) {
        columns->push_back(&ctx_.cache.Label(r.key));
      }
    }
    return columns->size() > before;  // without columns, all scores would have to be 0
  }
  absl::Status Reduce(std::span<const Row>, std::span<int64_t> scores) override {
    NormalizeReduce(scores, false, max_score_);
    return absl::OkStatus();
  }

 private:
  PodContext ctx_;
  std::shared_ptr<const AddedAffinity> added_;
  int64_t max_score_;
  bool by_label_ = true;               // whether all terms that count consist of label expressions alone
  std::vector<std::string> problems_;  // errors in the pod's preferred terms
  std::vector<const api::PreferredSchedulingTerm*> terms_;
  std::vector<LabelMatcher> matchers_;  // for the first terms_; created when first needed
};

}  // namespace

// In a valid term, each field requirement has one value.
bool ValidTermMatches(const api::NodeSelectorTerm& t, const api::Node& node) {
  if (!t.problems.empty() || (!t.has_expressions && t.fields.empty())) return false;
  if (t.has_expressions && !t.match.selector.Matches(node.labels)) return false;
  return std::all_of(t.fields.begin(), t.fields.end(), [&](const api::FieldRequirement& f) {
    const std::string_view value = f.key == kMetadataName ? std::string_view(node.meta.name) : std::string_view();
    return (f.values[0].str() == value) == (f.op == "In");
  });
}

bool MeetsRequired(const api::PodTemplate& pod, const api::Node& node) {
  for (const auto& [key, value] : pod.node_selector) {
    if (node.labels.Get(key) != value) return false;
  }
  if (!pod.affinity.node || !pod.affinity.node->required) return true;
  const auto& terms = pod.affinity.node->required->terms;
  return std::any_of(terms.begin(), terms.end(), [&](const auto& t) { return ValidTermMatches(t, node); });
}

// Looks at single nodes only if the affinity names them or not only labels decide.
void KeepRequired(const api::PodTemplate& pod, const Cache& cache, RowSet* rows) {
  BERTH_REQUIRES([&] {
    RowSet listed = *rows;
    listed.IntersectWith(cache.listed());
    return listed.Size() == rows->Size();
  }());
  for (const auto& [key, value] : pod.node_selector)
    NarrowToRows(cache.Label(key).RowsWith(value), cache.row_count(), rows);
  if (!pod.affinity.node || !pod.affinity.node->required) return;
  const auto& terms = pod.affinity.node->required->terms;
  std::vector<Row> named;
  const bool by_name = NamedCandidates(&*pod.affinity.node->required, cache, &named);
  if (by_name) NarrowToRows(named, cache.row_count(), rows);
  const bool by_value = !by_name && std::all_of(terms.begin(), terms.end(), [](const auto& t) {
    return t.problems.empty() && t.has_expressions && t.fields.empty();
  });
  if (!by_value) {
    rows->ForEach([&](Row row) {
      if (!MeetsRequired(pod, *cache.row(row).node)) rows->Erase(row);
    });
    return;
  }
  if (terms.empty()) return rows->Clear();
  const api::Selector everything = api::Selector::FromMap({});
  std::vector<LabelMatcher> matchers;
  matchers.emplace_back(cache, everything);
  for (const auto& t : terms) matchers.emplace_back(cache, t.match.selector);
  KeepMatching(matchers, cache.row_count(), rows);
}

FitPredicate NodeAffinityFilter(const PluginFactoryArgs&, AddedAffinity added) {
  auto shared = std::make_shared<const AddedAffinity>(std::move(added));
  return [shared](const PodContext& ctx) {
    return std::make_unique<AffinityCheck>(ctx, shared, reasons::kOwnNodeAffinity, NamedNodes::kLookUp);
  };
}

FitPredicate RequiredNodeAffinity(const PluginFactoryArgs&) {
  static const auto kNothing = std::make_shared<const AddedAffinity>();
  return [](const PodContext& ctx) {
    return std::make_unique<AffinityCheck>(ctx, kNothing, kOwnSelector, NamedNodes::kIgnore);
  };
}

PriorityFunction NodeAffinityScore(const PluginFactoryArgs& args, AddedAffinity added) {
  auto shared = std::make_shared<const AddedAffinity>(std::move(added));
  return [shared, max = args.max_score](const PodContext& ctx) {
    return std::make_unique<AffinityScoring>(ctx, shared, max);
  };
}

}  // namespace berth::scheduler::nodeaffinity
