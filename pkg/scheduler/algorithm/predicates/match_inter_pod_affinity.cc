#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/scheduler/algorithm/predicates/predicates.h"
#include "pkg/scheduler/algorithm/predicates/reasons.h"

namespace berth::scheduler::predicates {
namespace {

const Symbol kHostnameLabel("kubernetes.io/hostname");

// One required term of the pod, with the live count of pods that match it.
struct OwnTerm {
  const api::PodAffinityTerm* term;
  bool usable = false;
  bool per_node = false;  // 1.10 looks for hostname terms on the node itself only (B-09, kept)
  bool matches_self = false;
  std::shared_ptr<const PodCount> count;
  const Cache::LabelColumn* column = nullptr;
};

class InterPodAffinityCheck final : public FitCheck {
 public:
  InterPodAffinityCheck(const PodContext& ctx, Cache* cache) : ctx_(ctx) {
    if (const auto& a = ctx.pod.tmpl->affinity.pod) {
      for (const auto& t : a->required) affinity_.push_back(Prepare(t, cache));
    }
    if (const auto& a = ctx.pod.tmpl->affinity.pod_anti) {
      for (const auto& t : a->required) anti_.push_back(Prepare(t, cache));
    }
  }

  Verdict Check(Row row) override {
    switch (Ask(row)) {
      case Answer::kFits: return Verdict::kFits;
      case Answer::kError: return Verdict::kError;
      default: return Verdict::kFails;
    }
  }
  void Explain(Row row, std::vector<FailureReason>* out) override {
    out->push_back(reasons::kPodAffinityNotMatch);
    switch (Ask(row)) {
      case Answer::kExisting: out->push_back(reasons::kExistingPodsAntiAffinityRulesNotMatch); break;
      case Answer::kAffinity: out->push_back(reasons::kPodAffinityRulesNotMatch); break;
      default: out->push_back(reasons::kPodAntiAffinityRulesNotMatch); break;
    }
  }
  std::string Error(Row row) override {
    for (const OwnTerm& t : affinity_) {
      if (t.usable) continue;
      return absl::StrCat("Cannot schedule pod ", ctx_.pod.meta.Key(), " onto node ", ctx_.cache.row(row).name.string(),
                          ", because of a required podAffinity term with topologyKey \"", t.term->topology_key.string(),
                          "\", err: ",
                          t.term->selector.ok()
                              ? std::string("empty topologyKey is not allowed except for PreferredDuringScheduling pod "
                                            "anti-affinity")
                              : t.term->selector.error);
    }
    return {};
  }
  void Filter(RowSet* candidates, RowSet* errors) override {
    if (ctx_.cache.declared_terms().anti_required() == 0 && affinity_.empty() && anti_.empty()) return;
    FitCheck::Filter(candidates, errors);
  }

 private:
  enum class Answer { kFits, kExisting, kAffinity, kAnti, kError };

  OwnTerm Prepare(const api::PodAffinityTerm& t, Cache* cache) const {
    OwnTerm own;
    own.term = &t;
    own.usable = t.selector.ok() && !t.topology_key.empty();
    if (!own.usable) return own;
    own.per_node = t.topology_key == kHostnameLabel;
    PodQuery query;
    query.namespaces = t.namespaces;
    query.any_of = {t.selector.selector};
    if (own.per_node) {
      query.sees_nominated = true;
    } else {
      query.topology_key = t.topology_key;
    }
    own.matches_self = query.Matches(*ctx_.pod.tmpl);
    own.count = cache->Count(query);
    own.column = &cache->Label(t.topology_key);
    return own;
  }

  // Pods that match are on nodes that share the topology domain of this row.
  bool InDomain(const OwnTerm& t, Row row) const {
    Symbol value = (*t.column)[row];
    if (value == Cache::kNoValue) return false;
    return t.per_node ? t.count->OnRow(row) > 0 : t.count->InValue(value) > 0;
  }

  void RefreshExisting() {
    const DeclaredTerms& declared = ctx_.cache.declared_terms();
    if (version_ == declared.version()) return;
    version_ = declared.version();
    existing_.clear();
    for (uint32_t i = 0; i < declared.terms().size(); ++i) {
      const DeclaredTerms::Term& t = declared.terms()[i];
      // A term without a topology key is its own pod's mistake (B-17, mended).
      if (t.term.topology_key.empty() || !t.Matches(*ctx_.pod.tmpl)) continue;
      existing_.push_back({i, &ctx_.cache.Label(t.term.topology_key)});
    }
  }

  Answer Ask(Row row) {
    const DeclaredTerms& declared = ctx_.cache.declared_terms();
    if (declared.anti_required() > 0) {
      RefreshExisting();
      for (const auto& [i, column] : existing_) {
        const DeclaredTerms::Term& t = declared.terms()[i];
        if (t.anti_required == 0) continue;
        auto domain = t.domains.find((*column)[row]);
        if (domain != t.domains.end() && domain->second.anti_required > 0) return Answer::kExisting;
      }
    }
    for (const OwnTerm& t : affinity_) {
      if (!t.usable) return Answer::kError;
      if (InDomain(t, row)) continue;
      bool exists = t.per_node ? t.count->OnRow(row) > 0 : t.count->total() > 0;
      if (exists || !t.matches_self) return Answer::kAffinity;
    }
    for (const OwnTerm& t : anti_) {
      if (!t.usable || InDomain(t, row)) return Answer::kAnti;
    }
    return Answer::kFits;
  }

  PodContext ctx_;
  std::vector<OwnTerm> affinity_, anti_;
  struct Existing {
    uint32_t term;
    const Cache::LabelColumn* column;
  };
  std::vector<Existing> existing_;  // terms of placed pods that the pod matches
  uint64_t version_ = ~uint64_t{0};
};

}  // namespace

FitPredicate MatchInterPodAffinity(const PluginFactoryArgs& args) {
  return [cache = args.cache](const PodContext& ctx) { return std::make_unique<InterPodAffinityCheck>(ctx, cache); };
}

}  // namespace berth::scheduler::predicates
