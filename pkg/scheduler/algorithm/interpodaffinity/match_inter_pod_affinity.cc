#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/scheduler/algorithm/interpodaffinity/affinity_answer.h"
#include "pkg/scheduler/algorithm/interpodaffinity/declared_terms_of.h"
#include "pkg/scheduler/algorithm/interpodaffinity/interpodaffinity.h"
#include "pkg/scheduler/algorithm/reasons.h"

namespace berth::scheduler::interpodaffinity {
namespace {

const Symbol kHostnameLabel("kubernetes.io/hostname");

// Source: InterPodAffinityMatches in pkg/scheduler/algorithm/predicates/predicates.go (1.10). A node fits if
//
//   - it is in no domain of a required anti-affinity term of a placed pod that matches the pod,
//   - for each required affinity term of the pod, its domain has a matching pod, or no pod matches the term and the pod
//     itself does (the first pod of a group), and
//   - for each required anti-affinity term of the pod, its domain has no matching pod.
//
// Each anti-affinity term of a placed pod is checked with its own topology key; upstream uses that of the pod's last
// matching term for all of them (bug B-18, fixed).
//
// Channels: for each required affinity term of the pod, one for pods in the domain, followed by one for pods on the
// node if the term is per node; then one for all required anti-affinity terms of the pod and one for those of placed
// pods. The last two exist only if there are such terms.
class InterPodAffinityCheck final : public DomainCheck {
 public:
  // What differs between releases.
  struct Rules {
    bool hosts_are_special = true;     // bug B-09 of 1.10
    bool bad_terms_are_errors = true;  // since 1.9
  };
  InterPodAffinityCheck(const PodContext& ctx, Cache* cache, Rules rules)
      : ctx_(ctx), cache_(cache), rules_(rules), existing_(/*anti=*/true, 0) {
    if (const auto& a = ctx.pod.tmpl->affinity.pod) {
      for (const auto& t : a->required) affinity_.push_back(Prepare(t));
    }
    if (const auto& a = ctx.pod.tmpl->affinity.pod_anti) {
      for (const auto& t : a->required) anti_.push_back(Prepare(t));
    }
    existing_.Refresh(*ctx.pod.tmpl, cache);
    ListTerms();
  }

  bool Refresh() override {
    if (!existing_.Refresh(*ctx_.pod.tmpl, cache_)) return false;
    ListTerms();
    return true;
  }
  bool usable() const override {
    auto good = [](const OwnTerm& t) { return t.usable; };
    return std::all_of(affinity_.begin(), affinity_.end(), good) && std::all_of(anti_.begin(), anti_.end(), good);
  }
  bool Admits(std::span<const DomainSum> sums) const override { return Why(sums) == Answer::kFits; }
  void AdmitEach(std::span<const DomainSum> sums, std::span<uint8_t> admits) const override {
    AdmitEachBy(sums, admits, [this](std::span<const DomainSum> of_node) { return Why(of_node) == Answer::kFits; });
  }
  bool IgnoresPodsWithoutTerms() const override { return affinity_.empty() && anti_.empty(); }

  bool MayError() const override { return !usable(); }
  Verdict Check(Row row) override { return VerdictOf(AnswerFor(row)); }
  // A term that some pod matches admits the domains of such pods only. Hostname terms are left out, because they look
  // for pods on each node by itself.
  bool Candidates(std::vector<Row>* rows) override {
    if (!usable()) return false;
    Refresh();
    std::vector<DomainTerm> binding;
    for (const OwnTerm& t : affinity_) {
      if (!t.per_node && (t.count->total() > 0 || !t.matches_self)) binding.push_back(terms_[t.term_index]);
    }
    return FewestCountedRows(binding, FewRows(*cache_), rows);
  }
  // What a row's sums say is what Check finds, which words the error of a term that cannot be used.
  int ReasonBits() const override { return usable() ? 3 : 0; }
  void NumberReasons(std::span<const Row> rows, const AddedAmounts*, std::span<uint32_t> numbers) override {
    NumberBySums(rows, numbers, [&](std::span<const DomainSum> sums) { return static_cast<uint32_t>(Why(sums)); });
  }
  void Explain(Row row, std::vector<FailureReason>* out) override { AppendReasons(AnswerFor(row), out); }
  RuleError Error(Row row) override {
    auto bad = std::find_if(affinity_.begin(), affinity_.end(), [](const OwnTerm& t) { return !t.usable; });
    if (bad == affinity_.end()) return {};
    const api::PodAffinityTerm& t = *bad->term;
    return absl::StrCat(
        "Cannot schedule pod ", ctx_.pod.meta.Key(), " onto node ", ctx_.cache.row(row).name.string(),
        ", because of a required podAffinity term with topologyKey \"", t.topology_key.string(), "\", err: ",
        t.selector.ok() ? std::string("empty topologyKey is not allowed except for PreferredDuringScheduling pod "
                                      "anti-affinity")
                        : t.selector.error);
  }
  // Without required terms, there is nothing to check.
  void Filter(RowSet* candidates, RowSet* errors) override {
    if (ctx_.cache.declared_terms().anti_required() == 0 && affinity_.empty() && anti_.empty()) return;
    FitCheck::Filter(candidates, errors);
  }
  FreedNeed NeedsFreed(Row) override {
    Refresh();
    FreedNeed need;
    // If no pod matches a term, evictions make no difference to it, so the predicate demands nothing. Otherwise it is
    // unknown.
    auto nobody = [](const OwnTerm& t) { return t.usable && t.count->total_all() == 0; };
    auto undeclared = [](const auto& sum) { return sum->numbers().empty(); };
    need.known = affinity_.empty() && std::all_of(anti_.begin(), anti_.end(), nobody) &&
                 std::all_of(existing_.sums().begin(), existing_.sums().end(), undeclared);
    return need;
  }

 private:
  using Answer = AffinityAnswer;
  // A required term of the pod with the live number of pods that match it.
  struct OwnTerm {
    const api::PodAffinityTerm* term = nullptr;
    bool usable = false;
    bool per_node = false;      // hostname terms match only pods on the node itself (bug B-09, kept)
    bool matches_self = false;  // whether the pod matches its own term
    std::shared_ptr<const PodCount> count;
    const LabelColumn* label = nullptr;
    size_t channel = 0;         // for affinity terms: the channel of pods in the node's domain
    size_t term_index = 0;      // for affinity terms: the index of the channel's term in terms()
    size_t exists_channel = 0;  // for affinity terms per node: the channel of pods on the node
  };

  // Looks up the count of the pods that match a term, by node for hostname terms and by domain for others.
  OwnTerm Prepare(const api::PodAffinityTerm& t) const {
    OwnTerm own;
    own.term = &t;
    own.usable = t.selector.ok() && !t.topology_key.empty();
    if (!own.usable) return own;
    own.per_node = rules_.hosts_are_special && t.topology_key == kHostnameLabel;
    PodQuery query;
    query.namespaces = t.namespaces;
    query.any_of = {t.selector.selector};
    // Upstream evaluates hostname terms on the NodeInfo, to which a simulation has added nominated pods. It evaluates
    // all other terms on the live cache, which does not have these pods.
    if (own.per_node) {
      query.sees_nominated = true;
    } else {
      query.topology_key = t.topology_key;
    }
    own.matches_self = query.Matches(*ctx_.pod.tmpl);
    own.count = cache_->Count(query);
    own.label = &cache_->Label(t.topology_key);
    return own;
  }

  // Creates the channels in the order that Why expects.
  void ListTerms() {
    terms_.clear();
    channels_.clear();
    if (!usable()) return;
    auto add = [&](std::shared_ptr<const DomainTotals> totals, const LabelColumn* label) {
      terms_.push_back({std::move(totals), label, 1, static_cast<uint32_t>(channels_.size() - 1)});
    };
    for (OwnTerm& t : affinity_) {
      t.channel = channels_.size();
      channels_.push_back(DomainChannel::kAny);
      t.term_index = terms_.size();
      add(t.count, t.label);
      if (!t.per_node) continue;
      t.exists_channel = channels_.size();
      channels_.push_back(DomainChannel::kAny);
      add(t.count, nullptr);
    }
    anti_channel_ = channels_.size();
    if (anti_.empty() && existing_.sums().empty()) return;
    channels_.push_back(DomainChannel::kAny);
    for (const OwnTerm& t : anti_) add(t.count, t.label);
    channels_.push_back(DomainChannel::kAny);
    for (const auto& sum : existing_.sums()) add(sum, nullptr);
  }

  // Returns the first check that fails, in the order of upstream.
  Answer Why(std::span<const DomainSum> sums) const {
    const bool with_anti = sums.size() > anti_channel_;
    if (with_anti && sums[anti_channel_ + 1].value > 0) return Answer::kExisting;
    for (const OwnTerm& t : affinity_) {
      if (sums[t.channel].value > 0) continue;
      // The first pod of a group may go to any node: no pod matches the term yet, and the pod itself does. For hostname
      // terms, upstream only looks for such pods on the node (bug B-09, kept).
      const bool exists = t.per_node ? sums[t.exists_channel].value > 0 : t.count->total() > 0;
      if (exists || !t.matches_self) return Answer::kAffinity;
    }
    return with_anti && sums[anti_channel_].value > 0 ? Answer::kAnti : Answer::kFits;
  }
  // Returns the answer for one row, for the reference scheduler.
  Answer AnswerFor(Row row) {
    Refresh();
    // Terms are checked one after another, in the order of upstream. An unusable affinity term is an error only if no
    // earlier term fails. An unusable anti-affinity term fails the node without an error.
    for (const auto& sum : existing_.sums()) {
      const uint32_t domain = sum->DomainOf(row);
      if (domain != LabelColumn::kNoDomain && sum->In(domain) > 0) return Answer::kExisting;
    }
    for (const OwnTerm& t : affinity_) {
      if (!t.usable) return rules_.bad_terms_are_errors ? Answer::kError : Answer::kAffinity;
      if (InDomain(t, row)) continue;
      const bool exists = t.per_node ? t.count->OnRow(row) > 0 : t.count->total() > 0;
      if (exists || !t.matches_self) return Answer::kAffinity;
    }
    for (const OwnTerm& t : anti_) {
      if (!t.usable || InDomain(t, row)) return Answer::kAnti;
    }
    return Answer::kFits;
  }
  static bool InDomain(const OwnTerm& t, Row row) {
    const uint32_t domain = t.label->Domain(row);
    if (domain == LabelColumn::kNoDomain) return false;
    return t.per_node ? t.count->OnRow(row) > 0 : t.count->In(domain) > 0;
  }

  PodContext ctx_;
  Cache* cache_;
  Rules rules_;
  std::vector<OwnTerm> affinity_, anti_;
  DeclaredTermsOf existing_;
  size_t anti_channel_ = 0;  // of the pod's own terms; the next channel is that of placed pods
};

}  // namespace

FitPredicate MatchInterPodAffinity(const PluginFactoryArgs& args) {
  return [cache = args.cache](const PodContext& ctx) {
    return std::make_unique<InterPodAffinityCheck>(ctx, cache, InterPodAffinityCheck::Rules());
  };
}

FitPredicate MatchInterPodAffinityAnywhere(const PluginFactoryArgs& args, bool bad_terms_are_errors) {
  const InterPodAffinityCheck::Rules rules = {.hosts_are_special = false, .bad_terms_are_errors = bad_terms_are_errors};
  return [cache = args.cache, rules](const PodContext& ctx) {
    return std::make_unique<InterPodAffinityCheck>(ctx, cache, rules);
  };
}

}  // namespace berth::scheduler::interpodaffinity
