#include "pkg/scheduler/algorithm/predicates/match_inter_pod_affinity.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/scheduler/algorithm/predicates/predicates.h"
#include "pkg/scheduler/algorithm/predicates/reasons.h"

namespace berth::scheduler::predicates {
namespace {

const Symbol kHostnameLabel("kubernetes.io/hostname");

}  // namespace

bool InterPodAffinityCheck::OwnTerm::InDomain(Row row) const {
  Symbol value = (*column)[row];
  if (per_node) return value != Cache::kNoValue && count->OnRow(row) > 0;
  return InValue(value);
}

InterPodAffinityCheck::InterPodAffinityCheck(const PodContext& ctx, Cache* cache) : ctx_(ctx) {
  if (const auto& a = ctx.pod.tmpl->affinity.pod) {
    for (const auto& t : a->required) affinity_.push_back(Prepare(t, cache));
  }
  if (const auto& a = ctx.pod.tmpl->affinity.pod_anti) {
    for (const auto& t : a->required) anti_.push_back(Prepare(t, cache));
  }
  Refresh();
}

InterPodAffinityCheck::OwnTerm InterPodAffinityCheck::Prepare(const api::PodAffinityTerm& t, Cache* cache) const {
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

bool InterPodAffinityCheck::usable() const {
  auto good = [](const OwnTerm& t) { return t.usable; };
  return std::all_of(affinity_.begin(), affinity_.end(), good) && std::all_of(anti_.begin(), anti_.end(), good);
}

bool InterPodAffinityCheck::Refresh() {
  const DeclaredTerms& declared = ctx_.cache.declared_terms();
  if (version_ == declared.version()) return false;
  version_ = declared.version();
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < declared.terms().size(); ++i) {
    const DeclaredTerms::Term& t = declared.terms()[i];
    // A term without a topology key is its own pod's mistake (B-17, mended).
    if (t.declares_anti && !t.term.topology_key.empty() && t.Matches(*ctx_.pod.tmpl)) found.push_back(i);
  }
  bool changed = found != existing_;
  existing_ = std::move(found);
  existing_columns_.clear();
  for (uint32_t i : existing_) existing_columns_.push_back(&ctx_.cache.Label(declared.terms()[i].term.topology_key));
  return changed;
}

bool InterPodAffinityCheck::ExistingForbids(uint32_t term, Symbol value) const {
  const auto& domains = ctx_.cache.declared_terms().terms()[term].domains;
  auto in = domains.find(value);
  return in != domains.end() && in->second.anti_required > 0;
}

InterPodAffinityCheck::Answer InterPodAffinityCheck::Ask(Row row) {
  if (ctx_.cache.declared_terms().anti_required() > 0) {
    Refresh();
    for (size_t i = 0; i < existing_.size(); ++i) {
      if (ExistingForbids(existing_[i], (*existing_columns_[i])[row])) return Answer::kExisting;
    }
  }
  for (const OwnTerm& t : affinity_) {
    if (!t.usable) return Answer::kError;
    if (t.InDomain(row)) continue;
    bool exists = t.per_node ? t.count->OnRow(row) > 0 : t.count->total() > 0;
    if (exists || !t.matches_self) return Answer::kAffinity;
  }
  for (const OwnTerm& t : anti_) {
    if (!t.usable || t.InDomain(row)) return Answer::kAnti;
  }
  return Answer::kFits;
}

Verdict InterPodAffinityCheck::Check(Row row) {
  switch (Ask(row)) {
    case Answer::kFits:
      return Verdict::kFits;
    case Answer::kError:
      return Verdict::kError;
    default:
      return Verdict::kFails;
  }
}

void InterPodAffinityCheck::Explain(Row row, std::vector<FailureReason>* out) {
  out->push_back(reasons::kPodAffinityNotMatch);
  switch (Ask(row)) {
    case Answer::kExisting:
      out->push_back(reasons::kExistingPodsAntiAffinityRulesNotMatch);
      break;
    case Answer::kAffinity:
      out->push_back(reasons::kPodAffinityRulesNotMatch);
      break;
    default:
      out->push_back(reasons::kPodAntiAffinityRulesNotMatch);
      break;
  }
}

std::string InterPodAffinityCheck::Error(Row row) {
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

void InterPodAffinityCheck::Filter(RowSet* candidates, RowSet* errors) {
  if (ctx_.cache.declared_terms().anti_required() == 0 && affinity_.empty() && anti_.empty()) return;
  FitCheck::Filter(candidates, errors);
}

FreedNeed InterPodAffinityCheck::NeedsFreed(Row) {
  Refresh();
  FreedNeed need;
  need.known = affinity_.empty() && anti_.empty() && existing_.empty();
  return need;
}

FitPredicate MatchInterPodAffinity(const PluginFactoryArgs& args) {
  return [cache = args.cache](const PodContext& ctx) { return std::make_unique<InterPodAffinityCheck>(ctx, cache); };
}

}  // namespace berth::scheduler::predicates
