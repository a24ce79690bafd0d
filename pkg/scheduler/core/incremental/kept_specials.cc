#include "pkg/scheduler/core/incremental/kept_specials.h"

#include <algorithm>

#include "pkg/util/contract.h"

namespace berth::scheduler {
namespace {

// Going through the changed rows is cheaper than going through the rows that count pods if there are at most this many
// for each of the latter.
constexpr uint64_t kChangesForOneCounted = 16;

}  // namespace

// Removes a special row with this rank from everything but specials_.
void KeptSpecials::Withdraw(uint32_t rank, const Special& s) {
  RankSet* const shadow = shadows_.Find(s.group, s.score);
  shadow->Erase(rank);
  if (shadow->size() == 0) shadows_.Drop(s.group, s.score);
  --in_group_[static_cast<size_t>(s.group)];
  Overlay* const overlay = overlays_.Find(s.group, s.signature);
  overlay->buckets.Erase(s.score, rank);
  if (--overlay->size == 0) overlays_.Drop(s.group, s.signature);
  signatures_.Release(s.signature);
}

// Enters a special row everywhere but in specials_.
void KeptSpecials::Insert(Row row, const Special& s, size_t groups) {
  const uint32_t rank = cache_.Rank(row);
  const uint32_t limit = cache_.rank_limit();
  shadows_.Get(s.group, s.score, [&] { return RankSet(limit); }).Insert(rank);
  if (in_group_.size() <= static_cast<size_t>(s.group)) in_group_.resize(groups, 0);
  ++in_group_[static_cast<size_t>(s.group)];
  Overlay& overlay = overlays_.Get(s.group, s.signature, [&] { return Overlay{ScoreBuckets(limit)}; });
  overlay.buckets.Insert(s.score, rank);
  ++overlay.size;
}

void KeptSpecials::NoteSignature(Row row, int32_t signature) {
  if (row < by_row_.size()) by_row_[row] = signature;
}

const std::vector<int32_t>& KeptSpecials::SignaturesByRow() {
  if (by_row_.size() < cache_.row_count()) {
    by_row_.assign(cache_.row_count(), 0);
    for (const auto& [row, special] : specials_) by_row_[row] = special.signature;
  }
  return by_row_;
}

// Brings one row up to date: with the state that the class has for it and these sums of the sparse terms, the row is
// plain, or special with a group, score and signature.
void KeptSpecials::Update(const EquivalenceClass& rows, Row row, std::span<const int64_t> sums) {
  const EquivalenceClass::RowState& state = rows.state(row);
  const bool plain = state.group < 0 || std::all_of(sums.begin(), sums.end(), [](int64_t n) { return n == 0; });
  auto known = specials_.find(row);
  if (known == specials_.end()) {
    if (plain) return;
    known = specials_.try_emplace(row).first;
    filter_.Insert(row, specials_);
  } else {
    const Special& k = known->second;
    if (k.group == state.group && k.score == state.score && std::ranges::equal(sums, signatures_.values(k.signature))) {
      return;
    }
    Withdraw(cache_.Rank(row), k);
    if (plain) {
      specials_.erase(known);
      NoteSignature(row, 0);
      return;
    }
  }
  known->second = {state.group, state.score, signatures_.Use(sums)};
  NoteSignature(row, known->second.signature);
  Insert(row, known->second, rows.groups().size());
}

// Brings up to date all rows that share a domain of a sparse term with a row that has changed, because the number of
// the domain may have changed.
void KeptSpecials::EvaluateDomains(const EquivalenceClass& rows, Row row, SparseSums* sums) {
  Update(rows, row, sums->Of(layout_, row));
  for (const LabelColumn* column : layout_.sparse_columns()) {
    const uint32_t domain = column->Domain(row);
    if (domain == LabelColumn::kNoDomain) continue;
    for (Row other : column->Rows(domain)) {
      if (other != row) Update(rows, other, sums->Of(layout_, other));
    }
  }
}

void KeptSpecials::Drop() {
  Invalidate();
  specials_.clear();
  by_row_.clear();
  filter_.Clear();
  shadows_.Clear();
  overlays_.Clear();
}

// Finds the special rows from scratch.
void KeptSpecials::Rebuild(const EquivalenceClass& rows, SparseSums* sums) {
  Drop();
  epoch_ = rows.epoch();
  seen_ = cache_.generation();
  order_version_ = cache_.order_version();
  rescored_ = rows.nodes().rescored();
  signatures_.Reset(layout_.slots().size());
  in_group_.assign(rows.groups().size(), 0);
  // If each domain is a single row, there are no more special rows than domains. Without this, the table would be
  // copied each time it is full.
  if (layout_.sparse_columns().empty()) specials_.reserve(layout_.Counted());
  sums->ForEach(layout_, cache_.row_count(), [&](Row row, std::span<const int64_t> of) { Update(rows, row, of); });
}

// Drops the special rows whose ranks may be those of other rows now, because their nodes have gone. Returns false if
// the log does not reach that far back.
bool KeptSpecials::DropGone() {
  if (order_version_ == cache_.order_version()) return true;
  order_version_ = cache_.order_version();
  const auto drop = [&](Row row, uint32_t rank) {
    const auto known = specials_.find(row);
    if (known == specials_.end()) return;
    Withdraw(rank, known->second);
    specials_.erase(known);
    NoteSignature(row, 0);
  };
  cache_.RanksGivenUpSince(seen_, drop);
  return cache_.NodeChangesSince(seen_, [&](Row row) {
    if (!cache_.listed().Has(row)) drop(row, cache_.Rank(row));
  });
}

// Brings special rows up to date that have other scores because of other nodes. Returns false if they are not known any
// more.
bool KeptSpecials::RefreshRescored(const EquivalenceClass& rows, SparseSums* sums) {
  if (rescored_ == rows.nodes().rescored()) return true;
  std::vector<Row> rescored;
  if (!rows.nodes().RescoredSince(rescored_, &rescored)) return false;
  rescored_ = rows.nodes().rescored();
  for (Row row : rescored) {
    if (specials_.contains(row)) Update(rows, row, sums->Of(layout_, row));
  }
  return true;
}

// A change of a node object may have moved the node to another domain, whose old rows are not known any more, so it
// makes a rebuild necessary when there are domains of several rows.
void KeptSpecials::Refresh(const EquivalenceClass& rows, SparseSums* sums) {
  BERTH_REQUIRES(rows.built());
  if (epoch_ != rows.epoch()) return Rebuild(rows, sums);
  if (!DropGone() || !RefreshRescored(rows, sums)) return Rebuild(rows, sums);
  if (layout_.sparse_columns().empty()) return RefreshOwnRows(rows, sums);
  bool rebuild = false;
  const bool known = cache_.ChangesSince(seen_, [&](Row row, bool node_changed) {
    rebuild = rebuild || node_changed;
    if (!rebuild) EvaluateDomains(rows, row, sums);
  });
  if (!known || rebuild) return Rebuild(rows, sums);
  seen_ = cache_.generation();
}

// Returns whether a sparse term counts pods on the row. REQUIRES: the domains of all sparse terms are single rows.
bool KeptSpecials::Counts(Row row) const {
  return std::any_of(layout_.sparse().begin(), layout_.sparse().end(),
                     [&](const TermLayout::Term& t) { return t.term->totals->In(row) != 0; });
}

// Refresh for the common case that the domains of all sparse terms are single rows. A row whose numbers were 0 and
// still are 0 needs no work. If far more rows have changed than have numbers other than 0, it is cheaper to go through
// the latter.
void KeptSpecials::RefreshOwnRows(const EquivalenceClass& rows, SparseSums* sums) {
  const uint64_t changes = cache_.generation() - seen_;
  if (changes == 0) return;
  if (!layout_.sparse().empty()) {
    if (changes > kChangesForOneCounted * (specials_.size() + layout_.Counted())) return RefreshCounted(rows, sums);
    const bool known = cache_.ChangesSince(seen_, [&](Row row, bool) {
      bool may = filter_.MayHave(row);
      for (const TermLayout::Term& t : layout_.sparse()) may = may || t.term->totals->MayCount(row);
      if (may && (specials_.contains(row) || Counts(row))) Update(rows, row, sums->Of(layout_, row));
    });
    if (!known) return Rebuild(rows, sums);
  }
  seen_ = cache_.generation();
}

// Brings up to date the rows that are special, and those that are counted now. REQUIRES: as RefreshOwnRows.
void KeptSpecials::RefreshCounted(const EquivalenceClass& rows, SparseSums* sums) {
  thread_local std::vector<Row> not_counted;
  not_counted.clear();
  for (const auto& [row, special] : specials_) {
    if (!Counts(row)) not_counted.push_back(row);
  }
  for (Row row : not_counted) Update(rows, row, sums->Of(layout_, row));
  sums->ForEach(layout_, cache_.row_count(), [&](Row row, std::span<const int64_t> of) { Update(rows, row, of); });
  seen_ = cache_.generation();
}

size_t KeptSpecials::bytes() const {
  size_t bytes = specials_.capacity() * (sizeof(Row) + sizeof(Special)) + filter_.bytes() +
                 in_group_.capacity() * sizeof(uint32_t) + by_row_.capacity() * sizeof(int32_t);
  overlays_.ForEach([&](const Overlay& overlay) { bytes += sizeof(overlay) + overlay.buckets.bytes() + 64; });
  shadows_.ForEach([&](const RankSet& shadow) { bytes += sizeof(shadow) + shadow.bytes() + 64; });
  return bytes;
}

}  // namespace berth::scheduler
