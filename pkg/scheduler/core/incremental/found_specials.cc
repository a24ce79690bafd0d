#include "pkg/scheduler/core/incremental/found_specials.h"

#include <algorithm>
#include <limits>

#include "pkg/util/contract.h"

namespace berth::scheduler {
namespace {

// A table by group and signature is made if it has at most this many places, or this many for each special row.
constexpr size_t kLeastPlaces = 4096, kPlacesOfSpecial = 16;

}  // namespace

void FoundSpecials::Find(const Cache& cache, const TermLayout& layout, const EquivalenceClass& rows,
                         SignatureTable* signatures, SparseSums* sums) {
  BERTH_REQUIRES(rows.built());
  cache_ = &cache;
  rows_ = &rows;
  const std::vector<EquivalenceClass::Group>& groups = rows.groups();
  signatures->Reset(layout.slots().size());
  in_group_.assign(groups.size(), 0);
  top_.assign(groups.size(), 0);
  found_.clear();
  sums->ForEach(layout, cache.row_count(), [&](Row row, std::span<const int64_t> of) {
    rows.Prefetch(row);
    if (const int32_t signature = signatures->Use(of); signature != 0) {
      found_.push_back({-1, 0, signature, PartTable::kNoPart, row, kNone});
    }
  });
  first_.assign(groups.size(), kNone);
  size_t fit = 0;
  for (const Special& f : found_) {
    const EquivalenceClass::RowState state = rows.state(f.row);
    if (state.group < 0) continue;
    const auto group = static_cast<size_t>(state.group);
    ++in_group_[group];
    top_[group] += state.score == groups[group].buckets.top() ? 1 : 0;
    const auto index = static_cast<int32_t>(fit);
    found_[fit++] = {state.group, state.score, f.signature, PartTable::kNoPart, f.row, first_[group]};
    first_[group] = index;
  }
  found_.resize(fit);
  signatures_ = signatures->size();
  const size_t places = groups.size() * signatures_;
  by_table_ = places <= std::max(kLeastPlaces, kPlacesOfSpecial * found_.size());
  part_map_.clear();
  if (by_table_) part_of_.assign(places, kNotLooked);
}

// Returns the index of the part of a group with a signature, or kNotLooked at first. Valid until the next call.
int32_t& FoundSpecials::PartOf(int32_t group, int32_t signature) {
  const size_t place = static_cast<size_t>(group) * signatures_ + static_cast<size_t>(signature);
  return by_table_ ? part_of_[place] : part_map_.try_emplace(place, kNotLooked).first->second;
}

void FoundSpecials::AddParts(PartTable* parts) {
  BERTH_REQUIRES(rows_ != nullptr);
  const std::vector<EquivalenceClass::Group>& groups = rows_->groups();
  plain_part_.assign(groups.size(), PartTable::kNoPart);
  for (size_t i = 0; i < groups.size(); ++i) {
    const uint32_t plain = groups[i].size - in_group_[i];
    if (plain > 0) plain_part_[i] = parts->Add(static_cast<int32_t>(i), 0, nullptr, plain);
  }
  best_.assign(parts->size(), 0);
  for (Special& f : found_) {
    int32_t& part = PartOf(f.group, f.signature);
    if (part == kNotLooked) {
      part = parts->Add(f.group, f.signature, nullptr, 0);
      if (part != PartTable::kNoPart) best_.push_back(f.score);
    }
    f.part = part;
    if (part == PartTable::kNoPart) continue;
    ++parts->nodes()[static_cast<size_t>(part)];
    int64_t& best = best_[static_cast<size_t>(part)];
    best = std::max<int64_t>(best, f.score);
  }
}

// Returns the index of the best bucket of the group that has a plain row. REQUIRES: there is one.
size_t FoundSpecials::BucketOf(int32_t group) const {
  BERTH_REQUIRES(in_group_[static_cast<size_t>(group)] < rows_->groups()[static_cast<size_t>(group)].size);
  const ScoreBuckets& buckets = rows_->groups()[static_cast<size_t>(group)].buckets;
  if (top_[static_cast<size_t>(group)] < buckets.ranks(0).size()) return 0;
  for (size_t i = 1;; ++i) {
    size_t specials = 0;
    for (int32_t f = first_[static_cast<size_t>(group)]; f != kNone; f = found_[static_cast<size_t>(f)].next) {
      specials += found_[static_cast<size_t>(f)].score == buckets.score(i) ? 1 : 0;
    }
    if (specials < buckets.ranks(i).size()) return i;
  }
}

// Returns the best total. Writes the best score of each part to best_, and the buckets of plain parts that reach the
// best total to in_.
int64_t FoundSpecials::FindWinners(const PartTable& table) {
  int64_t best = std::numeric_limits<int64_t>::min();
  in_.clear();
  for (size_t p = 0; p < table.size(); ++p) {
    const PartTable::Part part = table[p];
    const RankSet* rows = nullptr;
    if (part.signature == 0) {
      const ScoreBuckets& buckets = rows_->groups()[static_cast<size_t>(part.group)].buckets;
      // A part that cannot win gets a score that no special row of its group has.
      best_[p] = std::numeric_limits<int64_t>::max();
      if (part.total + buckets.top() < best) continue;
      const size_t bucket = BucketOf(part.group);
      best_[p] = buckets.score(bucket);
      rows = &buckets.ranks(bucket);
    }
    const int64_t total = part.total + best_[p];
    if (total > best) in_.clear();
    if (total >= best && rows != nullptr) in_.push_back(rows);
    best = std::max(best, total);
  }
  return best;
}

// Returns whether rows of the part with this score have the best total.
bool FoundSpecials::Wins(const PartTable& parts, int32_t part, int64_t score, int64_t best) const {
  const auto p = static_cast<size_t>(part);
  return part != PartTable::kNoPart && best_[p] == score && parts[p].total + score == best;
}

// Special rows that reach the best total are more rows to choose from, and those in the buckets of plain parts that
// reach it are rows to leave out.
FoundSpecials::Choice FoundSpecials::Choose(const PartTable& parts, uint64_t turn) {
  const int64_t best = FindWinners(parts);
  uint64_t ties = 0;
  for (const RankSet* rows : in_) ties += rows->size();
  won_in_.clear();
  won_out_.clear();
  for (const Special& f : found_) {
    if (Wins(parts, f.part, f.score, best)) won_in_.push_back(cache_->Rank(f.row));
    if (Wins(parts, plain_part_[static_cast<size_t>(f.group)], f.score, best)) won_out_.push_back(cache_->Rank(f.row));
  }
  ties += won_in_.size();
  BERTH_REQUIRES(ties > won_out_.size());
  ties -= won_out_.size();
  const uint32_t limit = cache_->rank_limit();
  return {SelectKth({in_, won_in_}, {{}, won_out_}, limit, static_cast<uint32_t>(turn % ties)), ties};
}

}  // namespace berth::scheduler
