#include "pkg/scheduler/core/incremental/term_layout.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>

#include "pkg/util/contract.h"

namespace berth::scheduler {
namespace {

// A list of at most this many elements is searched from its beginning.
constexpr size_t kShort = 16;

}  // namespace

// A label makes sparse terms if it has more values than kMostValuesOfGroups, or more than two for every three nodes.
bool IsDense(const LabelColumn& column, size_t nodes) {
  return column.distinct() <= kMostValuesOfGroups && 3 * column.distinct() <= 2 * nodes;
}

size_t TermLayout::KeyOf(const LabelColumn* column, bool presence_only) {
  if (keys_.size() <= kShort) {
    const auto same = [&](const GroupKey& k) { return k.column == column && (presence_only || !k.presence_only); };
    const auto found = std::find_if(keys_.begin(), keys_.end(), same);
    if (found != keys_.end()) return static_cast<size_t>(found - keys_.begin());
  } else {
    const auto& known = presence_only ? first_key_ : first_value_key_;
    if (const auto found = known.find(column); found != known.end()) return found->second;
  }
  keys_.push_back({column, presence_only});
  if (keys_.size() > kShort) {
    for (size_t k = first_key_.empty() ? 0 : keys_.size() - 1; k < keys_.size(); ++k) {
      first_key_.try_emplace(keys_[k].column, k);
      if (!keys_[k].presence_only) first_value_key_.try_emplace(keys_[k].column, k);
    }
  }
  return keys_.size() - 1;
}

// Returns the index of the channel in slots_, where it is added if it is new.
size_t TermLayout::SlotOf(size_t channel) {
  if (slots_.size() <= kShort) {
    const auto found = std::find(slots_.begin(), slots_.end(), channel);
    if (found != slots_.end()) return static_cast<size_t>(found - slots_.begin());
  } else if (const auto found = slot_of_.find(channel); found != slot_of_.end()) {
    return found->second;
  }
  slots_.push_back(channel);
  if (slots_.size() > kShort) {
    for (size_t s = slot_of_.empty() ? 0 : slots_.size() - 1; s < slots_.size(); ++s) slot_of_.emplace(slots_[s], s);
  }
  return slots_.size() - 1;
}

// Returns the indexes in slots_ of these channels.
std::vector<size_t> TermLayout::SlotsOf(size_t first_channel, size_t width) const {
  std::vector<size_t> slots;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i] >= first_channel && slots_[i] < first_channel + width) slots.push_back(i);
  }
  return slots;
}

// Appends the rule's channels and returns the position of the first.
size_t TermLayout::PlaceChannels(const DomainRule& rule) {
  const size_t first = channels_.size();
  channels_.insert(channels_.end(), rule.channels().begin(), rule.channels().end());
  return first;
}

// Enters the term as a dense or a sparse one.
void TermLayout::PlaceTerm(const DomainTerm& term, size_t channel) {
  const LabelColumn* column = term.totals->column();
  BERTH_REQUIRES(term.label == nullptr || column == nullptr || term.label == column);
  if (column != nullptr && IsDense(*column, nodes_)) {
    dense_.push_back({&term, channel, KeyOf(column, false), 0});
    return;
  }
  const size_t slot = SlotOf(channel);
  sparse_.push_back({&term, channel, term.label == nullptr ? kNoKey : KeyOf(term.label, true), slot});
  if (column != nullptr) sparse_columns_.push_back(column);  // Find makes each of them one
}

// Nodes are grouped by the keys of priorities (DomainScoring::keys) however many values these labels have. A priority
// with neither terms nor keys is left out, because it gives every node the same score (DomainScoring::Score).
void TermLayout::PlaceScoring(const WeightedDomainScoring& scoring) {
  const DomainScoring& rule = *scoring.scoring;
  if (rule.terms().empty() && rule.keys().empty()) return;
  std::vector<size_t> keys;
  for (const LabelColumn* column : rule.keys()) keys.push_back(KeyOf(column, false));
  const size_t first = PlaceChannels(rule);
  scorings_.push_back({&rule, scoring.weight, first, rule.channels().size(), std::move(keys), {}});
}

// The keys that other pods need come first, then those of the rules' scores, then those of the terms, so that layouts
// of different templates have the same keys where possible and share equivalence classes.
void TermLayout::Find(std::span<const std::unique_ptr<DomainCheck>> checks,
                      std::span<const WeightedDomainScoring> scorings, std::span<const GroupKey> first, size_t nodes) {
  *this = {};
  nodes_ = nodes;
  for (const GroupKey& k : first) {
    if (k.presence_only || IsDense(*k.column, nodes)) KeyOf(k.column, k.presence_only);
  }
  for (const auto& c : checks) {
    if (c->terms().empty()) {
      checks_without_terms_.push_back(c.get());
    } else {
      checks_.push_back({c.get(), PlaceChannels(*c), c->channels().size(), {}});
    }
  }
  for (const WeightedDomainScoring& w : scorings) PlaceScoring(w);
  for (PlacedCheck& p : checks_) {
    for (const DomainTerm& t : p.check->terms()) PlaceTerm(t, p.first_channel + t.channel);
    p.slots = SlotsOf(p.first_channel, p.width);
  }
  for (PlacedScoring& p : scorings_) {
    for (const DomainTerm& t : p.scoring->terms()) PlaceTerm(t, p.first_channel + t.channel);
    p.slots = SlotsOf(p.first_channel, p.width);
  }
  std::stable_sort(dense_.begin(), dense_.end(), [](const Term& a, const Term& b) {
    return std::pair(a.channel, a.key) < std::pair(b.channel, b.key);
  });
  FindNeeds();
  if (sparse_columns_.size() < 2) return;
  absl::flat_hash_set<const LabelColumn*> seen;
  std::erase_if(sparse_columns_, [&](const LabelColumn* column) { return !seen.insert(column).second; });
}

void TermLayout::FindNeeds() {
  for (const auto* terms : {&dense_, &sparse_}) {
    for (const Term& t : *terms) {
      if (t.term->label != nullptr) needs_.push_back({t.channel, t.key});
    }
  }
  std::sort(needs_.begin(), needs_.end());
  needs_.erase(std::unique(needs_.begin(), needs_.end()), needs_.end());
}

size_t TermLayout::Counted() const {
  size_t counted = 0;
  for (const Term& t : sparse_) counted += t.term->totals->numbers().size();
  return counted;
}

}  // namespace berth::scheduler
