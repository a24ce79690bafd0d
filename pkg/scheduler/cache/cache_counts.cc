// The live counts and sums of a Cache.
//
// When a pod comes or goes, LabelledPods::counted_by leads to the counts that it changes; so the cost does not depend
// on how many counts there are. When a node object changes, SetNode subtracts the row's pods (CountInDomains,
// DismissFromCounts), changes the labels, and adds them again (CountInDomains, AdmitToCounts).
//
// Counts and sums exist as long as a rule holds a pointer to them, and some for longer, because the pods of a
// controller come one after another and need the same ones.
#include <absl/hash/hash.h>

#include <algorithm>
#include <utility>

#include "pkg/scheduler/cache/cache.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {
namespace {

// When only the cache holds at least this many counts, or this many sums, all of these are dropped. Until then they are
// kept up to date for later pods.
constexpr size_t kUnusedCountsKept = 64;

size_t HashOf(const PodQuery& q) {
  size_t hash = absl::HashOf(q.namespaces, q.topology_key, q.any_of.size(), q.skip_terminating, q.nodes != nullptr);
  for (const api::Selector& s : q.any_of) {
    for (const api::Requirement& r : s.requirements()) hash = absl::HashOf(hash, r.key, r.values);
  }
  return hash;
}

}  // namespace

// Returns whether a pod whose template matches the query of `c` counts in it.
bool Cache::Counts(const PodCount& c, const PlacedPod& p, Why why) {
  const PodQuery& q = c.query_;
  if (why == Why::kNominated && !q.sees_nominated) return false;
  if (why != Why::kPlaced && q.simulation_counts_all) return true;
  return !q.never_base && !(q.skip_terminating && p.pod->meta.deleting());
}

// Adds or subtracts the pod in everything that depends on the labels of its node: the domains of counts without a node
// filter, and the declared affinity terms with the sums over them. A row without a node object is in no domain.
void Cache::CountInDomains(Row r, const PlacedPod& p, int sign, Why why) {
  if (rows_[r].node == nullptr) return;
  for (PodCount* c : p.info->labelled->counted_by) {
    if (c->query_.nodes != nullptr || !Counts(*c, p, why)) continue;
    c->total_ += sign;
    if (c->column() == nullptr) continue;
    if (const uint32_t domain = c->column()->Domain(r); domain != LabelColumn::kNoDomain) c->AddInDomain(domain, sign);
  }
  for (const TermUse& use : p.info->terms) {
    DeclaredTerms::Term& term = terms_.terms_[use.term];
    bool anti = use.kind == TermUse::Kind::kAntiRequired;
    (anti ? terms_.anti_required_ : terms_.scoring_) += sign;
    (anti ? term.anti_required : term.scoring) += sign;
    if (term.column == nullptr) continue;
    const uint32_t domain = term.column->Domain(r);
    if (domain == LabelColumn::kNoDomain) continue;
    DeclaredTerms::InDomain change;
    switch (use.kind) {
      case TermUse::Kind::kAntiRequired:
        change.anti_required = sign;
        break;
      case TermUse::Kind::kAffinityRequired:
        change.affinity_required = sign;
        break;
      case TermUse::Kind::kPreferred:
        change.preferred_weight = sign * int64_t{use.weight};
        change.preferred = sign;
        break;
    }
    DeclaredTerms::InDomain& in = term.domains[domain];
    in.anti_required += change.anti_required;
    in.affinity_required += change.affinity_required;
    in.preferred_weight += change.preferred_weight;
    in.preferred += change.preferred;
    if (in.Zero()) term.domains.erase(domain);
    for (TermTotals* sum : term.added_by) {
      if (const int64_t n = sum->WeightOf(change); n != 0) sum->Add(domain, n);
    }
  }
}

// Returns how many pods on the row count in each of the counts with a node filter; those with none are absent.
absl::flat_hash_map<const PodCount*, int32_t> Cache::FilteredOnRow(Row r) const {
  absl::flat_hash_map<const PodCount*, int32_t> here;
  if (filtered_counts_.empty()) return here;
  for (const PlacedPod& p : rows_[r].pods) {
    for (const PodCount* c : p.info->labelled->counted_by) {
      if (c->query_.nodes != nullptr && Counts(*c, p, Why::kPlaced)) ++here[c];
    }
  }
  return here;
}

// Takes the row's pods and its domain out of the counts with a node filter. They are treated apart because they depend
// on more of a node than its labels.
void Cache::DismissFromCounts(Row r) {
  if (rows_[r].node == nullptr) return;
  const auto pods = FilteredOnRow(r);
  for (PodCount* c : filtered_counts_) {
    if (!c->CountsOn(r)) continue;
    const bool admitted = c->admitted_.Has(r);
    const uint32_t domain = c->DomainOf(r);
    const auto counted = pods.find(c);
    const int32_t here = counted == pods.end() ? 0 : counted->second;
    c->total_ -= here;
    // Also where the node is in no domain: its labels may change, or another node may get the row.
    c->admitted_.Erase(r);
    if (domain == LabelColumn::kNoDomain) continue;
    c->AddInDomain(domain, -here);
    if (admitted) c->DismissNode(domain);
  }
}

void Cache::AdmitToCounts(Row r) {
  if (rows_[r].node == nullptr) return;
  const auto pods = FilteredOnRow(r);
  const NodeFilter* asked = nullptr;
  bool admitted = false;
  for (PodCount* c : filtered_counts_) {
    // The counts of one pod follow one another and have the same filter.
    if (c->query_.nodes.get() != std::exchange(asked, c->query_.nodes.get())) admitted = asked->admits(*rows_[r].node);
    if (admitted) c->admitted_.Insert(r);
    if (!c->CountsOn(r)) continue;
    const uint32_t domain = c->DomainOf(r);
    const auto counted = pods.find(c);
    const int32_t here = counted == pods.end() ? 0 : counted->second;
    c->total_ += here;
    if (domain == LabelColumn::kNoDomain) continue;
    if (admitted) c->AdmitNode(domain);
    c->AddInDomain(domain, here);
  }
}

// Finds the nodes that the filter of a new count admits: those of `like`, a count with the same filter, unless it is
// null. Nodes are counted by domain first, so that a hash table is looked into once for each domain.
void Cache::AdmitAll(PodCount* count, const PodCount* like) {
  const NodeFilter& filter = *count->query_.nodes;
  if (like != nullptr) {
    count->admitted_ = like->admitted_;
  } else {
    count->admitted_ = listed();
    if (filter.narrow != nullptr) {
      filter.narrow(*this, &count->admitted_);
    } else {
      listed().ForEach([&](Row r) {
        if (!filter.admits(*rows_[r].node)) count->admitted_.Erase(r);
      });
    }
  }
  thread_local std::vector<int32_t> nodes;  // by domain
  nodes.assign(count->column()->domain_limit(), 0);
  count->admitted_.ForEach([&](Row r) {
    if (const uint32_t domain = count->DomainOf(r); domain != LabelColumn::kNoDomain) ++nodes[domain];
  });
  thread_local std::vector<std::pair<uint32_t, int32_t>> by_domain;
  by_domain.clear();
  for (uint32_t domain = 0; domain < nodes.size(); ++domain) {
    if (nodes[domain] > 0) by_domain.emplace_back(domain, nodes[domain]);
  }
  count->AdmitNodes(by_domain);
}

// Returns the pods that match the query, those with the same labels together and each once. If a selector requires one
// of certain labels, only pods with such a label can match; otherwise all may.
std::vector<LabelledPods*> Cache::PodsOf(const PodQuery& query) const {
  std::vector<LabelledPods*> out;
  size_t looked = 0;  // how many lists were looked through
  auto add = [&](LabelledPods* pods) {
    if (query.Matches(pods->ns, pods->labels)) out.push_back(pods);
  };
  for (const api::Selector& s : query.any_of) {
    const api::Requirement* pair = nullptr;
    for (const api::Requirement& r : s.requirements()) {
      if (r.op == api::Operator::kIn || r.op == api::Operator::kEquals) pair = &r;
    }
    if (pair != nullptr) {
      for (Symbol value : pair->values) {
        auto it = labelled_by_label_.find({pair->key, value});
        if (it == labelled_by_label_.end()) continue;
        ++looked;
        for (LabelledPods* pods : it->second) add(pods);
      }
    } else if (!s.MatchesNothing()) {
      ++looked;
      for (const auto& [key, pods] : labelled_) add(pods.get());
    }
  }
  if (looked < 2) return out;
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// A new count is added to `counted_by` of all LabelledPods that it matches and gets their numbers from `rows`, so that
// no pod is looked at. The pods are added up by domain first, as the nodes are.
std::shared_ptr<const PodCount> Cache::Count(const PodQuery& query) {
  BERTH_REQUIRES(query.nodes == nullptr || !query.topology_key.empty());
  const size_t hash = HashOf(query);
  if (auto same = counts_by_hash_.find(hash); same != counts_by_hash_.end()) {
    for (uint32_t number : same->second) {
      if (counts_[number]->query_ == query) return counts_[number];
    }
  }
  DropUnusedCounts();
  const LabelColumn* column = query.topology_key.empty() ? nullptr : &Label(query.topology_key);
  std::shared_ptr<PodCount> count(new PodCount(query, column));
  if (query.nodes != nullptr) {
    const bool like_last = !filtered_counts_.empty() && filtered_counts_.back()->query_.nodes == query.nodes;
    AdmitAll(count.get(), like_last ? filtered_counts_.back() : nullptr);
    filtered_counts_.push_back(count.get());
  }
  const std::vector<LabelledPods*> matching = PodsOf(query);
  size_t rows = 0;
  for (LabelledPods* alike : matching) {
    alike->counted_by.push_back(count.get());
    rows += query.never_base ? 0 : alike->rows.size();
  }
  thread_local std::vector<int64_t> pods;  // by domain; 0 for all that are not in `domains`
  thread_local std::vector<uint32_t> domains;
  domains.clear();
  const size_t limit = column == nullptr ? rows_.size() : column->domain_limit();
  if (rows > 0 && pods.size() < limit) pods.resize(limit, 0);
  for (const LabelledPods* alike : matching) {
    if (query.never_base) break;
    for (const auto& [r, placed] : alike->rows) {
      const int32_t n = placed.live + (query.skip_terminating ? 0 : placed.terminating);
      if (n == 0) continue;
      count->total_all_ += n;
      const bool counts = rows_[r].node != nullptr && count->CountsOn(r);
      if (counts) count->total_ += n;
      const uint32_t domain = column == nullptr ? r : counts ? column->Domain(r) : LabelColumn::kNoDomain;
      if (domain == LabelColumn::kNoDomain) continue;
      if (pods[domain] == 0) domains.push_back(domain);
      pods[domain] += n;
    }
  }
  count->Reserve(domains.size(), static_cast<uint32_t>(limit));
  thread_local std::vector<std::pair<uint32_t, int64_t>> by_domain;
  by_domain.clear();
  for (const uint32_t domain : domains) {
    const int64_t n = std::exchange(pods[domain], 0);
    if (column == nullptr) {
      count->Add(domain, n);
    } else {
      by_domain.emplace_back(domain, n);
    }
  }
  if (column != nullptr) count->AddToNew(by_domain);
  uint32_t number = static_cast<uint32_t>(counts_.size());
  if (free_counts_.empty()) {
    counts_.push_back(count);
  } else {
    number = free_counts_.back();
    free_counts_.pop_back();
    counts_[number] = count;
  }
  counts_by_hash_[hash].push_back(number);
  for (const api::Selector& s : query.any_of) counts_index_.Add(s, number);
  return count;
}

// Drops all counts that only the cache holds, once there are kUnusedCountsKept of them. One sweep for many counts is
// cheap; a sweep for each count would go through all templates every time. Looking for them goes through all counts,
// and is done for one of kUnusedCountsKept new counts only, because a pod may ask for thousands.
void Cache::DropUnusedCounts() {
  if (counts_until_look_ > 0) {
    --counts_until_look_;
    return;
  }
  counts_until_look_ = kUnusedCountsKept - 1;
  auto unused = [](const auto& c) { return c != nullptr && c.use_count() == 1; };
  if (static_cast<size_t>(std::count_if(counts_.begin(), counts_.end(), unused)) < kUnusedCountsKept) return;
  for (uint32_t number = 0; number < counts_.size(); ++number) {
    if (!unused(counts_[number])) continue;
    const PodQuery& query = counts_[number]->query_;
    counts_[number]->dropped_ = true;
    for (const api::Selector& s : query.any_of) counts_index_.Remove(s, number);
    auto same = counts_by_hash_.find(HashOf(query));
    std::erase(same->second, number);
    if (same->second.empty()) counts_by_hash_.erase(same);
    free_counts_.push_back(number);
  }
  for (auto& [key, pods] : labelled_) std::erase_if(pods->counted_by, [](const PodCount* c) { return c->dropped_; });
  std::erase_if(filtered_counts_, [](const PodCount* c) { return c->dropped_; });
  for (auto& c : counts_) {
    if (c != nullptr && c->dropped_) c = nullptr;
  }
}

std::shared_ptr<const TermTotals> Cache::SumOf(const TermSum& sum) {
  BERTH_REQUIRES(!sum.terms.empty());
  const auto key_of = [this](uint32_t t) { return terms_.terms_[t].term.topology_key; };
  BERTH_REQUIRES(std::ranges::all_of(
      sum.terms, [&](uint32_t t) { return !key_of(t).empty() && key_of(t) == key_of(sum.terms.front()); }));
  if (auto known = sums_.find(sum); known != sums_.end()) return known->second;
  DropUnusedSums();
  std::shared_ptr<TermTotals> totals(new TermTotals(sum, terms_.terms_[sum.terms.front()].column));
  for (uint32_t t : sum.terms) {
    DeclaredTerms::Term& term = terms_.terms_[t];
    term.added_by.push_back(totals.get());
    for (const auto& [domain, in] : term.domains) {
      if (const int64_t n = totals->WeightOf(in); n != 0) totals->Add(domain, n);
    }
  }
  sums_.emplace(sum, totals);
  return totals;
}

void Cache::DropUnusedSums() {
  if (sums_until_look_ > 0) {
    --sums_until_look_;
    return;
  }
  sums_until_look_ = kUnusedCountsKept - 1;
  auto unused = [](const auto& entry) { return entry.second.use_count() == 1; };
  if (static_cast<size_t>(std::count_if(sums_.begin(), sums_.end(), unused)) < kUnusedCountsKept) return;
  absl::erase_if(sums_, [&](const auto& entry) {
    if (!unused(entry)) return false;
    for (uint32_t t : entry.first.terms) std::erase(terms_.terms_[t].added_by, entry.second.get());
    return true;
  });
}

// Gives up one use of a term by a template. With the last use, the index of the term becomes free, so sums that include
// it are dropped. A rule that holds such a sum requests another one, because DeclaredTerms::version() changes.
void Cache::ReleaseTerm(uint32_t t) {
  DeclaredTerms::Term& term = terms_.terms_[t];
  if (term.uses == 1) {
    const std::vector<TermTotals*> sums = term.added_by;
    for (TermTotals* totals : sums) {
      for (uint32_t other : totals->sum().terms) std::erase(terms_.terms_[other].added_by, totals);
      sums_.erase(TermSum(totals->sum()));
    }
  }
  terms_.Release(t);
}

}  // namespace berth::scheduler
