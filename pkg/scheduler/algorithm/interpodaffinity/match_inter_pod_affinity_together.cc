// MatchInterPodAffinity from 1.12 on. Source: InterPodAffinityMatches in
// pkg/scheduler/algorithm/predicates/predicates.go and the relations of metadata.go (1.13).
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/scheduler/algorithm/interpodaffinity/affinity_answer.h"
#include "pkg/scheduler/algorithm/interpodaffinity/declared_terms_of.h"
#include "pkg/scheduler/algorithm/interpodaffinity/interpodaffinity.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/util/contract.h"

namespace berth::scheduler::interpodaffinity {
namespace {

bool IsUsable(const api::PodAffinityTerm& t) {
  return t.selector.ok() && !t.topology_key.empty();
}

// Nominated pods do not count for the pod's own terms, because they have no node name (bug B-10, kept).
PodQuery TermQuery(const api::PodAffinityTerm& t) {
  PodQuery query;
  query.namespaces = t.namespaces;
  query.any_of = {t.selector.selector};
  return query;
}

// Returns the query for the pods that match all of the terms. REQUIRES: there is at least one.
PodQuery TogetherQuery(const std::vector<api::PodAffinityTerm>& terms) {
  BERTH_REQUIRES(!terms.empty());
  PodQuery all = TermQuery(terms[0]);
  for (size_t i = 1; i < terms.size(); ++i) {
    const std::vector<Symbol>& other = terms[i].namespaces;
    std::erase_if(all.namespaces, [&](Symbol ns) { return std::find(other.begin(), other.end(), ns) == other.end(); });
    all.all_of.push_back(terms[i].selector.selector);
  }
  return all;
}

// A node fits if
//
//   - it is in no domain of a required anti-affinity term of a placed pod that matches the pod,
//   - its domain of each required affinity term has a pod that matches all of these terms, or no such pod is in any
//     domain and the pod matches them itself (the first pod of a group, which may go to any node), and
//   - for each required anti-affinity term of the pod, its domain has no matching pod.
//
// Channels: one for each topology key of the pod's affinity terms that nodes have; one for all required anti-affinity
// terms of the pod; one for those of placed pods.
class TogetherCheck final : public DomainCheck {
 public:
  TogetherCheck(const PodContext& ctx, Cache* cache) : ctx_(ctx), cache_(cache), existing_(/*anti=*/true, 0) {
    if (const auto& a = ctx.pod.tmpl->affinity.pod) affinity_ = a->required;
    if (const auto& a = ctx.pod.tmpl->affinity.pod_anti) anti_ = a->required;
    usable_ =
        std::all_of(affinity_.begin(), affinity_.end(), IsUsable) && std::all_of(anti_.begin(), anti_.end(), IsUsable);
    existing_.Refresh(*ctx.pod.tmpl, cache);
    ListTerms();
  }

  bool Refresh() override {
    const bool appeared =
        std::any_of(absent_.begin(), absent_.end(), [](const LabelColumn* column) { return column->distinct() > 0; });
    if (!existing_.Refresh(*ctx_.pod.tmpl, cache_) && !appeared) return false;
    ListTerms();
    return true;
  }
  bool usable() const override { return usable_; }
  bool Admits(std::span<const DomainSum> sums) const override { return Why(sums) == Answer::kFits; }
  void AdmitEach(std::span<const DomainSum> sums, std::span<uint8_t> admits) const override {
    AdmitEachBy(sums, admits, [this](std::span<const DomainSum> of_node) { return Why(of_node) == Answer::kFits; });
  }
  bool IgnoresPodsWithoutTerms() const override { return affinity_.empty() && anti_.empty(); }

  bool MayError() const override { return !usable(); }
  Verdict Check(Row row) override { return VerdictOf(AnswerFor(row)); }
  // Unless the pod is the first of its group, only nodes in the domains of pods that match all terms fit.
  bool Candidates(std::vector<Row>* rows) override {
    if (!usable_ || affinity_.empty()) return false;
    Refresh();
    if (first_of_group_ && NobodyMatches()) return false;
    rows->clear();
    return !absent_.empty() || FewestCountedRows(std::span(terms_).first(affinity_channels_), FewRows(*cache_), rows);
  }
  // What a row's sums say is what Check finds, which words the error of a term that cannot be used.
  int ReasonBits() const override { return usable() ? 3 : 0; }
  void NumberReasons(std::span<const Row> rows, const AddedAmounts*, std::span<uint32_t> numbers) override {
    NumberBySums(rows, numbers, [&](std::span<const DomainSum> sums) { return static_cast<uint32_t>(Why(sums)); });
  }
  void Explain(Row row, std::vector<FailureReason>* out) override { AppendReasons(AnswerFor(row), out); }
  RuleError Error(Row row) override {
    const auto bad = std::find_if_not(affinity_.begin(), affinity_.end(), IsUsable);
    if (bad == affinity_.end()) return {};
    return absl::StrCat("Cannot schedule pod ", ctx_.pod.meta.Key(), " onto node ", ctx_.cache.row(row).name.string(),
                        ", because of PodAffinityTerms, err: ",
                        bad->selector.ok()
                            ? std::string("empty topologyKey is not allowed except for PreferredDuringScheduling pod "
                                          "anti-affinity")
                            : bad->selector.error);
  }
  // Without required terms, there is nothing to check.
  void Filter(RowSet* candidates, RowSet* errors) override {
    if (ctx_.cache.declared_terms().anti_required() == 0 && affinity_.empty() && anti_.empty()) return;
    FitCheck::Filter(candidates, errors);
  }
  // If no pod matches a term, evictions make no difference to it, so the predicate demands nothing.
  FreedNeed NeedsFreed(Row) override {
    Refresh();
    FreedNeed need;
    need.known = usable_ && affinity_.empty() &&
                 std::all_of(anti_counts_.begin(), anti_counts_.end(),
                             [](const auto& count) { return count->total_all() == 0; }) &&
                 std::all_of(existing_.sums().begin(), existing_.sums().end(),
                             [](const auto& sum) { return sum->numbers().empty(); });
    return need;
  }

 private:
  using Answer = AffinityAnswer;

  // Creates the channels in the order that Why expects.
  void ListTerms() {
    terms_.clear();
    channels_.clear();
    absent_.clear();
    anti_counts_.clear();
    first_of_group_ = false;
    if (!usable_) return;
    auto add = [&](std::shared_ptr<const DomainTotals> totals, const LabelColumn* label) {
      terms_.push_back({std::move(totals), label, 1, static_cast<uint32_t>(channels_.size() - 1)});
    };
    ListAffinity(add);
    affinity_channels_ = channels_.size();
    channels_.push_back(DomainChannel::kAny);
    for (const api::PodAffinityTerm& t : anti_) {
      PodQuery query = TermQuery(t);
      query.topology_key = t.topology_key;
      anti_counts_.push_back(cache_->Count(query));
      add(anti_counts_.back(), &cache_->Label(t.topology_key));
    }
    channels_.push_back(DomainChannel::kAny);
    for (const auto& sum : existing_.sums()) add(sum, nullptr);
  }
  // A key that no node has makes every node fail. It gets no channel, because a pod may name thousands of keys, and
  // each count would copy thousands of selectors.
  template <typename Add>
  void ListAffinity(Add add) {
    if (affinity_.empty()) return;
    PodQuery query = TogetherQuery(affinity_);
    first_of_group_ = query.Matches(*ctx_.pod.tmpl);
    absl::flat_hash_set<Symbol> keys;
    for (const api::PodAffinityTerm& t : affinity_) {
      if (!keys.insert(t.topology_key).second) continue;
      const LabelColumn* column = &cache_->Label(t.topology_key);
      if (column->distinct() == 0) {
        absent_.push_back(column);
        continue;
      }
      query.topology_key = t.topology_key;
      channels_.push_back(DomainChannel::kAny);
      add(cache_->Count(query), column);
    }
  }

  // Returns the first check that fails, in the order of upstream.
  Answer Why(std::span<const DomainSum> sums) const {
    if (sums[affinity_channels_ + 1].value > 0) return Answer::kExisting;
    const bool together =
        absent_.empty() && std::all_of(sums.begin(), sums.begin() + static_cast<ptrdiff_t>(affinity_channels_),
                                       [](const DomainSum& s) { return s.value > 0; });
    if (!together && !(first_of_group_ && NobodyMatches())) return Answer::kAffinity;
    return sums[affinity_channels_].value > 0 ? Answer::kAnti : Answer::kFits;
  }
  // Returns whether no pod in any domain of the affinity terms matches all of them. A matching pod on a node without
  // the topology labels is in no domain.
  bool NobodyMatches() const {
    return std::all_of(terms_.begin(), terms_.begin() + static_cast<ptrdiff_t>(affinity_channels_),
                       [](const DomainTerm& t) { return t.totals->numbers().empty(); });
  }
  // Returns the answer for one row, for the reference scheduler.
  Answer AnswerFor(Row row) {
    if (!usable_) return std::all_of(affinity_.begin(), affinity_.end(), IsUsable) ? Answer::kAnti : Answer::kError;
    Refresh();
    std::vector<DomainSum> sums(channels_.size());
    SumsOf(row, sums);
    const Answer why = Why(sums);
    return why == Answer::kFits && RestoredPodIsInTheWay(row) ? Answer::kAnti : why;
  }
  // Upstream enters a pod that preemption has removed and given back under the topology keys of all anti-affinity terms
  // as soon as it matches one of them (bug 13-02, kept).
  bool RestoredPodIsInTheWay(Row row) const {
    if (anti_.size() < 2) return false;
    bool matches = false;
    cache_->ForEachRestored(row, [&](const PlacedPod& p) {
      matches = matches || std::any_of(anti_.begin(), anti_.end(), [&](const api::PodAffinityTerm& t) {
                  return TermQuery(t).Matches(*p.info->tmpl);
                });
    });
    return matches && std::any_of(anti_.begin(), anti_.end(), [&](const api::PodAffinityTerm& t) {
             return cache_->Label(t.topology_key).Domain(row) != LabelColumn::kNoDomain;
           });
  }

  PodContext ctx_;
  Cache* cache_;
  std::vector<api::PodAffinityTerm> affinity_, anti_;  // the required terms of the pod
  bool usable_ = true;
  DeclaredTermsOf existing_;
  std::vector<const LabelColumn*> absent_;                    // of topology keys of affinity terms that no node has
  std::vector<std::shared_ptr<const PodCount>> anti_counts_;  // one for each term of anti_
  size_t affinity_channels_ = 0;  // the next channel is that of anti_, and the one after that is of placed pods
  bool first_of_group_ = false;   // whether the pod matches all of its own required affinity terms
};

}  // namespace

FitPredicate MatchInterPodAffinityTogether(const PluginFactoryArgs& args) {
  return [cache = args.cache](const PodContext& ctx) { return std::make_unique<TogetherCheck>(ctx, cache); };
}

}  // namespace berth::scheduler::interpodaffinity
