// The special rows of a template (term_layout.h), kept between decisions in buckets.
//
//   group 0 (zone a, 2000 nodes)   dense sums {zone: 7}   plain rows: signature (0)
//     node-5, node-9               {zone: 7} + (1)        overlay with signature (1)
//     node-2                       {zone: 7} + (2)        overlay with signature (2)
//
// Invariant after Refresh: rows() has exactly the rows of the class that fit and whose signature is not all 0. Each of
// them is in an overlay under its group, signature and score, and in a shadow under its group and score. The groups of
// the class include special rows; the shadows say which ones to leave out when the plain rows of a group are counted.
//
// Thread-safety: that of the Cache.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <span>
#include <vector>

#include "pkg/scheduler/core/incremental/equivalence_class.h"
#include "pkg/scheduler/core/incremental/grouped_map.h"
#include "pkg/scheduler/core/incremental/signature_table.h"
#include "pkg/scheduler/core/incremental/sparse_sums.h"

namespace berth::scheduler {

class KeptSpecials {
 public:
  struct Special {
    int32_t group;      // EquivalenceClass::RowState::group
    int32_t score;      // EquivalenceClass::RowState::score
    int32_t signature;  // number in the SignatureTable
  };
  // The special rows of one group with one signature.
  struct Overlay {
    ScoreBuckets buckets;
    uint32_t size = 0;  // number of rows in `buckets`
  };

  // All arguments must outlive the object. No other user may count uses of `signatures` while rows are kept.
  KeptSpecials(const Cache* cache, const TermLayout* layout, SignatureTable* signatures)
      : cache_(*cache), layout_(*layout), signatures_(*signatures) {}

  // Brings the rows up to date with the changes in the cache, or finds them from scratch. REQUIRES: `rows` is built. It
  // must be up to date.
  void Refresh(const EquivalenceClass& rows, SparseSums* sums);
  // Says that the rows must be found from scratch, because the layout or the class is another one.
  void Invalidate() { epoch_ = ~uint64_t{0}; }
  // Drops all rows.
  void Drop();
  // Returns whether Refresh need not begin from scratch, and the cache's generation that the rows are up to date with.
  bool UpToDateWith(const EquivalenceClass& rows) const { return epoch_ == rows.epoch(); }
  uint64_t seen() const { return seen_; }

  const absl::flat_hash_map<Row, Special>& rows() const { return specials_; }
  // Returns the signatures by row, 0 of rows that are not special. They are kept from the first call on. Valid until
  // the next change.
  const std::vector<int32_t>& SignaturesByRow();
  // Return, for a group: the number of its special rows, its overlays by signature, and the ranks of its special rows
  // with a score, null if there are none.
  uint32_t InGroup(size_t group) const { return group < in_group_.size() ? in_group_[group] : 0; }
  const GroupedMap<Overlay>::Map& Overlays(int32_t group) const { return overlays_.Of(group); }
  const RankSet* Shadow(int32_t group, int32_t score) const { return shadows_.Find(group, score); }
  size_t bytes() const;  // approximately, without the object itself

 private:
  void Rebuild(const EquivalenceClass& rows, SparseSums* sums);
  void NoteSignature(Row row, int32_t signature);
  bool DropGone();
  bool RefreshRescored(const EquivalenceClass& rows, SparseSums* sums);
  void RefreshOwnRows(const EquivalenceClass& rows, SparseSums* sums);
  void RefreshCounted(const EquivalenceClass& rows, SparseSums* sums);
  bool Counts(Row row) const;
  void EvaluateDomains(const EquivalenceClass& rows, Row row, SparseSums* sums);
  void Update(const EquivalenceClass& rows, Row row, std::span<const int64_t> sums);
  void Insert(Row row, const Special& special, size_t groups);
  void Withdraw(uint32_t rank, const Special& special);

  const Cache& cache_;
  const TermLayout& layout_;
  SignatureTable& signatures_;
  // The generation of the cache and the epoch of the class that the rows are up to date with. An epoch of ~0 says that
  // they must be found from scratch.
  uint64_t seen_ = 0, epoch_ = ~uint64_t{0};
  uint64_t order_version_ = 0, rescored_ = 0;  // of the cache and of the index of the class, likewise
  absl::flat_hash_map<Row, Special> specials_;
  KeyFilter filter_;                // of specials_
  std::vector<int32_t> by_row_;     // signatures, empty if nobody reads them
  GroupedMap<RankSet> shadows_;     // ranks of special rows by group and score
  GroupedMap<Overlay> overlays_;    // by group and signature
  std::vector<uint32_t> in_group_;  // number of special rows by group
};

}  // namespace berth::scheduler
