#include "pkg/scheduler/algorithm/interpodaffinity/declared_terms_of.h"

#include <map>

namespace berth::scheduler::interpodaffinity {

// The index of declared terms leaves few candidates, each of which is then matched exactly.
bool DeclaredTermsOf::Refresh(const api::PodTemplate& pod, Cache* cache) {
  const DeclaredTerms& declared = cache->declared_terms();
  const uint64_t namespaces = namespace_selectors_ ? cache->listers().namespaces.version() : 0;
  if (version_ == declared.version() && namespaces_ == namespaces) return false;
  version_ = declared.version();
  namespaces_ = namespaces;
  const auto ns = namespace_selectors_ ? cache->listers().namespaces.Get(Symbol(), pod.ns.string()) : nullptr;
  const api::Labels labels = ns == nullptr ? api::Labels() : ns->labels;
  candidates_.clear();
  declared.Candidates(pod.labels, &candidates_);
  std::map<Symbol, TermSum> by_key;
  for (uint32_t i : candidates_) {
    const DeclaredTerms::Term& t = declared.terms()[i];
    // A term without a topology key is an error of the pod that declares it and must not affect other pods (bug B-17,
    // fixed).
    if (!(anti_ ? t.declares_anti : t.declares_scoring) || t.column == nullptr) continue;
    if (!(namespace_selectors_ ? t.MatchesWith(pod, labels) : t.Matches(pod))) continue;
    by_key[t.term.topology_key].terms.push_back(i);
  }
  std::vector<std::shared_ptr<const TermTotals>> found;
  // The map sorts by topology key, so that equal results compare equal below.
  for (auto& [key, sum] : by_key) {
    sum.anti = anti_;
    sum.required_weight = required_weight_;
    found.push_back(cache->SumOf(sum));
  }
  if (found == sums_) return false;
  sums_ = std::move(found);
  return true;
}

}  // namespace berth::scheduler::interpodaffinity
