#include "pkg/scheduler/cache/counts.h"

#include <absl/hash/hash.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>

namespace berth::scheduler {
namespace {

bool Contains(const std::vector<Symbol>& sorted, Symbol s) {
  return std::binary_search(sorted.begin(), sorted.end(), s);
}

}  // namespace

std::string NodeFilter::KeyOf(std::string text) {
  constexpr size_t kLongest = 256;
  if (text.size() <= kLongest) return text;
  return absl::StrCat("#", text.size(), "-", absl::HashOf(text), "-", absl::HashOf(uint64_t{0x9e3779b97f4a7c15}, text));
}

bool PodQuery::Matches(Symbol ns, const api::Labels& labels) const {
  if (!all_namespaces && !Contains(namespaces, ns)) return false;
  auto matches = [&](const api::Selector& s) { return s.Matches(labels); };
  return std::any_of(any_of.begin(), any_of.end(), matches) && std::all_of(all_of.begin(), all_of.end(), matches);
}

bool operator==(const PodQuery& a, const PodQuery& b) {
  const bool same_nodes =
      a.nodes == b.nodes || (a.nodes != nullptr && b.nodes != nullptr && a.nodes->key == b.nodes->key);
  return same_nodes && a.namespaces == b.namespaces && a.all_namespaces == b.all_namespaces && a.any_of == b.any_of &&
         a.all_of == b.all_of && a.skip_terminating == b.skip_terminating && a.topology_key == b.topology_key &&
         a.sees_nominated == b.sees_nominated && a.simulation_counts_all == b.simulation_counts_all &&
         a.never_base == b.never_base && a.nodes_choose_domains == b.nodes_choose_domains;
}

// Moves the domain to another place of the histogram when it is one of an admitted node.
void PodCount::AddInDomain(uint32_t domain, int64_t n) {
  if (n == 0) return;
  const bool eligible = query_.nodes != nullptr && eligible_.In(domain) != 0;
  if (query_.nodes_choose_domains) {
    everywhere_.Add(domain, n);
    if (!eligible) return;
  }
  if (eligible) {
    const int64_t before = In(domain);
    auto it = histogram_.find(before);
    if (--it->second == 0) histogram_.erase(it);
    ++histogram_[before + n];
  }
  Add(domain, n);
}

// Adds what AddInDomain would, and works the histogram out afterwards: most numbers are small and occur many times.
void PodCount::AddToNew(std::span<const std::pair<uint32_t, int64_t>> pods_by_domain) {
  constexpr size_t kSmall = 256;
  std::array<int64_t, kSmall> domains_with = {};  // by number of pods
  if (query_.nodes_choose_domains) everywhere_.Reserve(pods_by_domain.size(), column()->domain_limit());
  for (const auto& [domain, pods] : pods_by_domain) {
    BERTH_REQUIRES(pods > 0);
    const bool eligible = query_.nodes != nullptr && eligible_.In(domain) != 0;
    if (query_.nodes_choose_domains) {
      everywhere_.Add(domain, pods);
      if (!eligible) continue;
    }
    Add(domain, pods);
    if (!eligible) continue;
    ++domains_with[0];
    ++(static_cast<size_t>(pods) < kSmall ? domains_with[static_cast<size_t>(pods)] : histogram_[pods]);
  }
  if (domains_with[0] == 0) return;
  const auto none = histogram_.find(0);
  none->second -= domains_with[0];
  if (none->second == 0) histogram_.erase(none);
  for (size_t pods = 1; pods < kSmall; ++pods) {
    if (domains_with[pods] > 0) histogram_[static_cast<int64_t>(pods)] += domains_with[pods];
  }
}

void PodCount::AdmitNode(uint32_t domain) {
  eligible_.Add(domain, 1);
  if (eligible_.In(domain) > 1) return;
  // The pods of a domain that was not eligible were counted in everywhere_ alone.
  if (const int64_t pods = everywhere_.In(domain); pods != 0) Add(domain, pods);
  ++histogram_[In(domain)];
}

void PodCount::AdmitNodes(std::span<const std::pair<uint32_t, int32_t>> nodes_by_domain) {
  BERTH_REQUIRES(numbers().empty() && everywhere_.empty() && eligible_.empty());
  if (nodes_by_domain.empty()) return;
  eligible_.Reserve(nodes_by_domain.size(), column()->domain_limit());
  for (const auto& [domain, nodes] : nodes_by_domain) eligible_.Add(domain, nodes);
  histogram_[0] = static_cast<int64_t>(eligible_.size());
}

void PodCount::DismissNode(uint32_t domain) {
  eligible_.Add(domain, -1);
  if (eligible_.In(domain) > 0) return;
  auto h = histogram_.find(In(domain));
  if (--h->second == 0) histogram_.erase(h);
  if (query_.nodes_choose_domains && In(domain) != 0) Add(domain, -In(domain));
}

bool DeclaredTerms::Term::Matches(const api::PodTemplate& t) const {
  return term.selector.ok() && Contains(term.namespaces, t.ns) && term.selector.selector.Matches(t.labels);
}

// In 1.29 a term without namespaces and without a namespaceSelector means the namespace of the pod that declares it,
// which the decoder has put into `namespaces`; with a namespaceSelector, only given namespaces count besides it.
bool DeclaredTerms::Term::MatchesWith(const api::PodTemplate& t, const api::Labels& labels) const {
  // Namespaces are compared first, because that is cheaper and most terms differ in them.
  const bool near =
      ((term.namespaces_given || !term.namespace_selector) && Contains(term.namespaces, t.ns)) ||
      (term.namespace_selector && term.namespace_selector->ok() && term.namespace_selector->selector.Matches(labels));
  return near && term.selector.ok() && term.selector.selector.Matches(t.labels);
}

// Sets the flag for this kind of use. Changes the version if the flag was not set, because rules that found no such use
// before must look up the terms again.
void DeclaredTerms::Declare(Term* term, bool anti_required) {
  bool& flag = anti_required ? term->declares_anti : term->declares_scoring;
  if (!flag) ++version_;
  flag = true;
}

// Adds a use of the term and returns its index. The hash covers only some fields, so equality is decided by comparing.
uint32_t DeclaredTerms::Use(const api::PodAffinityTerm& t, bool anti_required) {
  size_t hash = absl::HashOf(t.topology_key, t.namespaces, t.selector.selector.requirements().size());
  for (const api::Requirement& r : t.selector.selector.requirements()) hash = absl::HashOf(hash, r.key, r.values);
  std::vector<uint32_t>& same = by_hash_[hash];
  for (uint32_t i : same) {
    if (terms_[i].term == t) {
      ++terms_[i].uses;
      Declare(&terms_[i], anti_required);
      return i;
    }
  }
  uint32_t i = static_cast<uint32_t>(terms_.size());
  if (!free_.empty()) {
    i = free_.back();
    free_.pop_back();
  } else {
    terms_.emplace_back();
  }
  terms_[i] = Term{};
  terms_[i].term = t;
  terms_[i].hash = hash;
  terms_[i].uses = 1;
  same.push_back(i);
  if (t.selector.ok()) index_.Add(t.selector.selector, i);
  Declare(&terms_[i], anti_required);
  return i;
}

void DeclaredTerms::Release(uint32_t i) {
  if (--terms_[i].uses > 0) return;
  auto it = by_hash_.find(terms_[i].hash);
  std::erase(it->second, i);
  if (it->second.empty()) by_hash_.erase(it);
  if (terms_[i].term.selector.ok()) index_.Remove(terms_[i].term.selector.selector, i);
  terms_[i] = Term{};
  free_.push_back(i);
  ++version_;
}

// The index may return a term more than once, so duplicates are removed. Many terms are sorted by means of a bit for
// each that there is.
void DeclaredTerms::Candidates(const api::Labels& labels, std::vector<uint32_t>* out) const {
  constexpr size_t kBitsForOne = 64;
  index_.Candidates(labels, out);
  if (out->size() * kBitsForOne < terms_.size()) {
    std::sort(out->begin(), out->end());
    out->erase(std::unique(out->begin(), out->end()), out->end());
    return;
  }
  thread_local RowSet candidates;
  candidates.Resize(static_cast<uint32_t>(terms_.size()));
  for (const uint32_t i : *out) candidates.Insert(i);
  out->clear();
  candidates.ForEach([&](uint32_t i) {
    out->push_back(i);
    candidates.Erase(i);
  });
}

}  // namespace berth::scheduler
