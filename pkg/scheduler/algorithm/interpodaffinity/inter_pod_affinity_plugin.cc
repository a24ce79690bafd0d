// The plugin InterPodAffinity of releases 1.19 and 1.29: Filter and Score. Source: filtering.go, scoring.go and
// plugin.go in pkg/scheduler/framework/plugins/interpodaffinity.
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>

#include "pkg/scheduler/algorithm/interpodaffinity/affinity_scores.h"
#include "pkg/scheduler/algorithm/interpodaffinity/declared_terms_of.h"
#include "pkg/scheduler/algorithm/interpodaffinity/interpodaffinity.h"
#include "pkg/scheduler/algorithm/problem_list.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/util/contract.h"
#include "pkg/util/status.h"

namespace berth::scheduler::interpodaffinity {
namespace {

// Surprisingly, unsatisfied affinity is unresolvable, so that preemption is never tried for it.
const FailureReason kAntiAffinity{Symbol("node(s) didn't match pod anti-affinity rules"), false};
const Symbol kGeneral("node(s) didn't match pod affinity/anti-affinity");
const FailureReason kExisting{Symbol("node(s) didn't satisfy existing pods anti-affinity rules"), false};

// Returns whether the term has a topology key and selectors that can be parsed.
bool Usable(const api::PodAffinityTerm& t) {
  return !t.topology_key.empty() && t.selector.ok() && (!t.namespace_selector || t.namespace_selector->ok());
}
// Give access to the term in lists of required and of preferred terms.
const api::PodAffinityTerm& TermOf(const api::PodAffinityTerm& t) {
  return t;
}
const api::PodAffinityTerm& TermOf(const api::WeightedPodAffinityTerm& t) {
  return t.term;
}
// Returns the text of the first error in a list of terms, and an empty text if there is none.
template <typename Terms>
std::string MistakeIn(const Terms& terms) {
  for (const auto& t : terms) {
    const api::PodAffinityTerm& term = TermOf(t);
    if (!term.selector.ok()) return term.selector.aggregated_error;
    if (term.namespace_selector && !term.namespace_selector->ok()) return term.namespace_selector->aggregated_error;
  }
  return {};
}
// Returns the rejection text of a pod whose terms have errors: at most one error for each of the four lists, in the
// order in which upstream parses them. Empty if there are none.
std::string MistakesIn(const api::Affinity& a) {
  std::vector<std::string> mistakes;
  auto check = [&](std::string_view what, const auto& list) {
    if (std::string m = MistakeIn(list); !m.empty()) mistakes.push_back(std::string(what) + ": " + m);
  };
  if (a.pod) check("requiredAffinityTerms", a.pod->required);
  if (a.pod_anti) check("requiredAntiAffinityTerms", a.pod_anti->required);
  if (a.pod) check("preferredAffinityTerms", a.pod->preferred);
  if (a.pod_anti) check("preferredAntiAffinityTerms", a.pod_anti->preferred);
  return mistakes.empty() ? std::string() : "parsing pod: " + ProblemList(mistakes);
}

// Returns whether all terms of the pod are usable. If not, the reference scheduler decides.
bool Usable(const api::PodTemplate& pod) {
  for (const auto* a : {&pod.affinity.pod, &pod.affinity.pod_anti}) {
    if (!*a) continue;
    for (const auto& t : (*a)->required) {
      if (!Usable(t)) return false;
    }
    for (const auto& t : (*a)->preferred) {
      if (!Usable(t.term)) return false;
    }
  }
  return true;
}

// Returns the query for the pods that a term of the pod to be placed refers to. A namespaceSelector is replaced by the
// names of the existing namespaces that it matches; an empty one matches all namespaces, including unknown ones. If a
// term has a namespaceSelector but no namespaces, the namespace of the pod itself is not added.
PodQuery QueryOf(const api::PodAffinityTerm& t, const Listers& listers) {
  PodQuery query;
  if (t.namespaces_given || !t.namespace_selector) query.namespaces = t.namespaces;
  if (t.namespace_selector) {
    query.all_namespaces = t.namespace_selector->selector.Empty();
    listers.namespaces.ForEach([&](const auto& ns) {
      if (!t.namespace_selector->selector.Matches(ns->labels)) return;
      const Symbol known = Symbol::Find(ns->meta.name);
      query.namespaces.push_back(known.empty() ? Symbol(ns->meta.name) : known);
    });
    std::sort(query.namespaces.begin(), query.namespaces.end());
    query.namespaces.erase(std::unique(query.namespaces.begin(), query.namespaces.end()), query.namespaces.end());
  }
  query.any_of = {t.selector.selector};
  query.sees_nominated = true;
  return query;
}

// Returns the query for the pods that all of the terms refer to: the namespaces are intersected and all selectors must
// match. REQUIRES: `terms` is not empty.
PodQuery QueryOfAll(const std::vector<api::PodAffinityTerm>& terms, const Listers& listers) {
  BERTH_REQUIRES(!terms.empty());
  PodQuery all = QueryOf(terms[0], listers);
  for (size_t i = 1; i < terms.size(); ++i) {
    const PodQuery other = QueryOf(terms[i], listers);
    if (all.all_namespaces) {
      all.namespaces = other.namespaces;
      all.all_namespaces = other.all_namespaces;
    } else if (!other.all_namespaces) {
      std::erase_if(all.namespaces, [&](Symbol ns) {
        return !std::binary_search(other.namespaces.begin(), other.namespaces.end(), ns);
      });
    }
    all.all_of.push_back(other.any_of[0]);
  }
  return all;
}

// Detects when the queries of the pod's own terms may have changed, because namespaces were added, changed or deleted.
class OwnTerms {
 public:
  explicit OwnTerms(const PodContext& ctx) : cache_(ctx.cache) {
    auto selects = [](const api::PodAffinityTerm& t) { return t.namespace_selector.has_value(); };
    for (const auto* a : {&ctx.pod.tmpl->affinity.pod, &ctx.pod.tmpl->affinity.pod_anti}) {
      if (!*a) continue;
      for (const auto& t : (*a)->required) by_namespace_labels_ |= selects(t);
      for (const auto& t : (*a)->preferred) by_namespace_labels_ |= selects(t.term);
    }
  }
  // Returns true if the queries may have changed since the last call, and on the first call.
  bool Changed() {
    const uint64_t version = by_namespace_labels_ ? cache_.listers().namespaces.version() : 0;
    return std::exchange(version_, version) != version;
  }

 private:
  const Cache& cache_;
  bool by_namespace_labels_ = false;
  uint64_t version_ = ~uint64_t{0};
};

// The Filter. It has one channel for each topology key of the required affinity terms, which counts the pods that match
// all affinity terms in the node's domain of that key; then one channel for all required anti-affinity terms of the
// pod; then one for the required anti-affinity terms of placed pods that match the pod. The last two exist only if
// there are such terms.
class AffinityCheck final : public DomainCheck {
 public:
  AffinityCheck(const PodContext& ctx, Cache* cache, const AffinityFilterOptions& options)
      : ctx_(ctx),
        cache_(cache),
        options_(options),
        usable_(Usable(*ctx.pod.tmpl)),
        own_(ctx),
        existing_(true, 0, true) {
    if (const std::string mistakes = MistakesIn(ctx.pod.tmpl->affinity); !mistakes.empty()) {
      rejection_ = PodRejection{{Symbol::InternBriefly(mistakes), true}};
    }
    Refresh();
  }

  // In 1.29 PreFilter returns Skip if the pod has no required terms and no placed pod declares anti-affinity against
  // it. Pods that are added in a simulation after that are not noticed, as upstream.
  PreFilterResult PreFilter() override {
    PreFilterResult result;
    if (rejection_) result.rejection = &*rejection_;
    if (!options_.skips_pods || rejection_ || anti_ > 0) return result;
    const auto& sums = existing_.sums();
    result.skip = std::all_of(sums.begin(), sums.end(), [](const auto& sum) { return sum->numbers().empty(); });
    return result;
  }

  // A pod without terms can change only the channels of the pod's own terms.
  bool IgnoresPodsWithoutTerms() const override { return usable_ && !rejection_ && anti_ == 0; }

  // If no pod matches a term, evictions make no difference to it, so the plugin demands nothing.
  FreedNeed NeedsFreed(Row) override {
    Refresh();
    FreedNeed need;
    need.known = usable_ && !rejection_ && affinity_ == 0 &&
                 std::all_of(terms_.begin(), terms_.end(), [](const auto& t) { return t.totals->numbers().empty(); });
    return need;
  }

  bool usable() const override { return usable_; }
  bool Refresh() override {
    const bool own = own_.Changed() || (absent_ != nullptr && absent_->version() != absent_version_);
    if (!existing_.Refresh(*ctx_.pod.tmpl, cache_) && !own) return false;
    ListTerms();
    return true;
  }
  bool Admits(std::span<const DomainSum> sums) const override { return Why(sums, IsFirstOfGroup()) == nullptr; }
  void AdmitEach(std::span<const DomainSum> sums, std::span<uint8_t> admits) const override {
    const bool first = IsFirstOfGroup();
    AdmitEachBy(sums, admits, [&](std::span<const DomainSum> of_node) { return Why(of_node, first) == nullptr; });
  }
  // With a required term, only nodes in the domains of pods that match all of them fit, unless the pod is the first.
  bool Candidates(std::vector<Row>* rows) override {
    Refresh();
    if (!usable_ || affinity_ == 0 || IsFirstOfGroup()) return false;
    return FewestCountedRows(std::span(terms_).first(affinity_), FewRows(*cache_), rows);
  }
  int ReasonBits() const override { return usable_ ? 2 : 0; }
  void NumberReasons(std::span<const Row> rows, const AddedAmounts*, std::span<uint32_t> numbers) override {
    Refresh();
    const bool first = IsFirstOfGroup();
    NumberBySums(rows, numbers, [&](std::span<const DomainSum> sums) {
      const FailureReason* why = Why(sums, first);
      return why == nullptr ? 0u : why == &reasons::kRequiredPodAffinity ? 1u : why == &kAntiAffinity ? 2u : 3u;
    });
  }
  void Explain(Row row, std::vector<FailureReason>* out) override {
    std::vector<DomainSum> sums(channels_.size());
    SumsOf(row, sums);
    const FailureReason* why = Why(sums, IsFirstOfGroup());
    if (why == nullptr) return;
    if (options_.gives_general_reason) out->push_back({kGeneral, why->unresolvable});
    out->push_back(*why);
  }

 private:
  // Creates the channels in the order that Why expects. The pod is matched against its own query for the exception of
  // the first pod of a group.
  void ListTerms() {
    terms_.clear();
    channels_.clear();
    first_of_group_ = false;
    affinity_ = 0;
    absent_ = nullptr;
    if (!usable_) return;
    auto add = [&](std::shared_ptr<const DomainTotals> totals, const LabelColumn* label) {
      terms_.push_back({std::move(totals), label, 1, static_cast<uint32_t>(channels_.size() - 1)});
    };
    const auto& affinity = ctx_.pod.tmpl->affinity;
    if (affinity.pod && !affinity.pod->required.empty()) {
      PodQuery query = QueryOfAll(affinity.pod->required, ctx_.cache.listers());
      first_of_group_ = query.Matches(*ctx_.pod.tmpl);
      absl::flat_hash_set<Symbol> keys;
      for (const auto& t : affinity.pod->required) {
        if (!keys.insert(t.topology_key).second) continue;
        const LabelColumn* column = &cache_->Label(t.topology_key);
        PodQuery nobody;
        if (column->distinct() == 0) {
          // One key that no node has makes every node fail, so others are not looked at until a node has it: a pod may
          // name thousands of keys, and each count would copy thousands of selectors.
          if (absent_ != nullptr) continue;
          absent_ = column;
          absent_version_ = column->version();
          nobody.topology_key = t.topology_key;
        } else {
          query.topology_key = t.topology_key;
        }
        channels_.push_back(DomainChannel::kAny);
        add(cache_->Count(absent_ == column ? nobody : query), column);
        ++affinity_;
      }
    }
    if (affinity.pod_anti && !affinity.pod_anti->required.empty()) {
      channels_.push_back(DomainChannel::kAny);
      for (const auto& t : affinity.pod_anti->required) {
        PodQuery query = QueryOf(t, ctx_.cache.listers());
        query.topology_key = t.topology_key;
        add(cache_->Count(query), &cache_->Label(t.topology_key));
      }
    }
    anti_ = channels_.size();
    if (existing_.sums().empty()) return;
    channels_.push_back(DomainChannel::kAny);
    for (const auto& sum : existing_.sums()) add(sum, nullptr);
  }

  // Returns the reason of the first check that fails, in the order of upstream, or null. A node that lacks the topology
  // label of an affinity term never fits. A node that lacks the label of an anti-affinity term passes it. `first` is
  // IsFirstOfGroup().
  const FailureReason* Why(std::span<const DomainSum> sums, bool first) const {
    bool together = true;
    for (size_t i = 0; i < affinity_; ++i) {
      if (!sums[i].complete) return &reasons::kRequiredPodAffinity;
      together = together && sums[i].value > 0;
    }
    if (!together && !first) return &reasons::kRequiredPodAffinity;
    if (anti_ > affinity_ && sums[affinity_].value > 0) return &kAntiAffinity;
    return sums.size() > anti_ && sums[anti_].value > 0 ? &kExisting : nullptr;
  }
  // Returns whether the pod matches its own affinity terms and no pod in any of their domains matches all of them. A
  // matching pod on a node without the topology label is not in a domain, so the pod still counts as the first of its
  // group.
  bool IsFirstOfGroup() const {
    return first_of_group_ && std::all_of(terms_.begin(), terms_.begin() + static_cast<ptrdiff_t>(affinity_),
                                          [](const DomainTerm& t) { return t.totals->numbers().empty(); });
  }

  PodContext ctx_;
  Cache* cache_;
  const AffinityFilterOptions options_;
  bool usable_;
  OwnTerms own_;
  DeclaredTermsOf existing_;
  const LabelColumn* absent_ = nullptr;  // of a topology key of the affinity terms that no node has, or null
  uint64_t absent_version_ = 0;
  size_t affinity_ = 0, anti_ = 0;  // number of affinity channels; index after the channels of the pod's own terms
  bool first_of_group_ = false;     // whether the pod matches all of its own required affinity terms
  std::optional<PodRejection> rejection_;
};

// The Score. One channel sums up the weights of all terms that apply to the domains of a node: the preferred terms of
// the pod, negative for anti-affinity, and the terms of placed pods that match the pod. In 1.29, unlike in 1.10
// and 1.19, the scale begins at the true minimum, not at 0 or below, and ends at the true maximum. The quotient of
// doubles is computed before the product is truncated, so that 29 of 100 scores 28.
class AffinityScoring final : public DomainScoring {
 public:
  AffinityScoring(const PodContext& ctx, Cache* cache, const InterPodAffinityOptions& options, int64_t max_score)
      : ctx_(ctx),
        cache_(cache),
        max_score_(max_score),
        scale_has_zero_(options.scale_has_zero),
        usable_(Usable(*ctx.pod.tmpl)),
        own_(ctx),
        theirs_(false, options.hard_weight, true) {
    const auto& a = ctx.pod.tmpl->affinity;
    const bool prefers = (a.pod && !a.pod->preferred.empty()) || (a.pod_anti && !a.pod_anti->preferred.empty());
    silent_ = options.ignore_preferred_terms_of_existing_pods && !prefers;
    channels_ = {DomainChannel::kSum};
    Refresh();
  }

  bool usable() const override { return usable_; }
  bool Refresh() override {
    if (silent_ || !usable_) return false;
    const bool own = own_.Changed();
    if (!theirs_.Refresh(*ctx_.pod.tmpl, cache_) && !own) return false;
    terms_.clear();
    const auto& a = ctx_.pod.tmpl->affinity;
    auto add = [&](const api::WeightedPodAffinityTerm& t, int64_t sign) {
      PodQuery query = QueryOf(t.term, ctx_.cache.listers());
      query.topology_key = t.term.topology_key;
      if (t.weight != 0) terms_.push_back({cache_->Count(query), nullptr, sign * t.weight, 0});
    };
    if (a.pod) {
      for (const auto& t : a.pod->preferred) add(t, +1);
    }
    if (a.pod_anti) {
      for (const auto& t : a.pod_anti->preferred) add(t, -1);
    }
    for (const auto& sum : theirs_.sums()) terms_.push_back({sum, nullptr, 1, 0});
    return true;
  }
  // PreScore returns Skip if no term applies to any node.
  bool Skips(std::span<const Row>) override {
    return std::all_of(terms_.begin(), terms_.end(), [](const DomainTerm& t) { return t.totals->numbers().empty(); });
  }
  void Score(const DomainParts& parts, std::span<int64_t> scores) const override {
    const auto first = std::ranges::find_if(parts.nodes, [](uint32_t nodes) { return nodes > 0; });
    const bool none = first == parts.nodes.end();
    const int64_t start =
        scale_has_zero_ || none ? 0 : parts.sums[static_cast<size_t>(first - parts.nodes.begin())].value;
    ScoreByRange(parts, start, max_score_, scores);
  }

 private:
  PodContext ctx_;
  Cache* cache_;
  int64_t max_score_;
  bool scale_has_zero_;
  // silent_: the arguments exclude the terms of placed pods, and the pod has no preferred terms of its own.
  bool usable_, silent_ = false;
  OwnTerms own_;
  DeclaredTermsOf theirs_;
};

}  // namespace

FitPredicate PodAffinityFilter(const PluginFactoryArgs& args) {
  return PodAffinityFilterBy(args, {});
}

FitPredicate PodAffinityFilterBy(const PluginFactoryArgs& args, const AffinityFilterOptions& options) {
  return [cache = args.cache, options](const PodContext& ctx) {
    return std::make_unique<AffinityCheck>(ctx, cache, options);
  };
}

PriorityFunction PodAffinityScore(const PluginFactoryArgs& args, const InterPodAffinityOptions& options) {
  return [cache = args.cache, options, max = args.max_score](const PodContext& ctx) {
    return std::make_unique<AffinityScoring>(ctx, cache, options, max);
  };
}

}  // namespace berth::scheduler::interpodaffinity
