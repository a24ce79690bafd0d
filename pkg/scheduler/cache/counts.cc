#include "pkg/scheduler/cache/counts.h"

#include <absl/hash/hash.h>

#include <algorithm>

namespace berth::scheduler {
namespace {

bool Contains(const std::vector<Symbol>& sorted, Symbol s) {
  return std::binary_search(sorted.begin(), sorted.end(), s);
}

}  // namespace

bool PodQuery::Matches(const api::PodTemplate& t) const {
  if (!Contains(namespaces, t.ns)) return false;
  return std::any_of(any_of.begin(), any_of.end(), [&](const api::Selector& s) { return s.Matches(t.labels); });
}

void PodCount::AddOnRow(Row row, int32_t n) {
  auto it = by_row_.try_emplace(row, 0).first;
  it->second += n;
  if (it->second == 0) by_row_.erase(it);
}

void PodCount::AddInValue(Symbol value, int64_t n) {
  auto it = by_value_.try_emplace(value, 0).first;
  it->second += n;
  if (it->second == 0) by_value_.erase(it);
}

bool DeclaredTerms::Term::Matches(const api::PodTemplate& t) const {
  return term.selector.ok() && Contains(term.namespaces, t.ns) && term.selector.selector.Matches(t.labels);
}

void DeclaredTerms::Declare(Term* term, bool anti_required) {
  bool& flag = anti_required ? term->declares_anti : term->declares_scoring;
  if (!flag) ++version_;
  flag = true;
}

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
  Declare(&terms_[i], anti_required);
  return i;
}

void DeclaredTerms::Release(uint32_t i) {
  if (--terms_[i].uses > 0) return;
  auto it = by_hash_.find(terms_[i].hash);
  std::erase(it->second, i);
  if (it->second.empty()) by_hash_.erase(it);
  terms_[i] = Term{};
  free_.push_back(i);
  ++version_;
}

}  // namespace berth::scheduler
