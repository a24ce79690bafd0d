// The special rows of a template (term_layout.h), found for one decision and not kept.
//
// Keeping the special rows of a template in buckets costs several times as much as looking at each of them once. It
// pays when the next pod of the template comes soon, because then few rows have changed. When many kinds of pods take
// turns, most rows of a template that are special have changed before its next pod comes. Then its special rows are
// listed anew for each decision, and the parts that they make have no buckets: the best rows of a part are found by
// going through the list.
//
// Thread-safety: that of the Cache.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <vector>

#include "pkg/scheduler/core/incremental/equivalence_class.h"
#include "pkg/scheduler/core/incremental/part_table.h"
#include "pkg/scheduler/core/incremental/sparse_sums.h"

namespace berth::scheduler {

class FoundSpecials {
 public:
  // Lists the special rows that fit, and counts them by group; `signatures` gets their signatures. REQUIRES: `rows` is
  // built. It must be up to date.
  void Find(const Cache& cache, const TermLayout& layout, const EquivalenceClass& rows, SignatureTable* signatures,
            SparseSums* sums);
  // Adds the parts of the plain rows of each group, and those of the special rows. REQUIRES: Find was called, and the
  // table was begun for the same layout and class.
  void AddParts(PartTable* parts);

  // The row chosen among those with the best total.
  struct Choice {
    uint32_t rank;  // its position in Cache::in_order()
    uint64_t ties;
  };
  // Chooses the row that round robin gives turn `turn`. REQUIRES: the parts were scored, and a row fits.
  Choice Choose(const PartTable& parts, uint64_t turn);

 private:
  struct Special {
    int32_t group, score, signature;
    int32_t part;  // index in the table, or PartTable::kNoPart
    Row row;
    int32_t next;  // index in found_ of another special row of the group, or kNone
  };
  static constexpr int32_t kNotLooked = -2;  // instead of an index of a part
  static constexpr int32_t kNone = -1;       // instead of an index in found_

  int32_t& PartOf(int32_t group, int32_t signature);
  size_t BucketOf(int32_t group) const;
  int64_t FindWinners(const PartTable& parts);
  bool Wins(const PartTable& parts, int32_t part, int64_t score, int64_t best) const;

  const Cache* cache_ = nullptr;
  const EquivalenceClass* rows_ = nullptr;
  size_t signatures_ = 0;
  std::vector<Special> found_;
  std::vector<uint32_t> in_group_;   // by group: number of special rows
  std::vector<uint32_t> top_;        // by group: number of special rows in its best bucket
  std::vector<int32_t> first_;       // by group: index in found_ of a special row, or kNone
  std::vector<int32_t> plain_part_;  // by group: index of the part of the plain rows
  // By group and signature: index of the part. In the map if there would be many more places than special rows.
  bool by_table_ = true;
  std::vector<int32_t> part_of_;
  absl::flat_hash_map<uint64_t, int32_t> part_map_;
  std::vector<int64_t> best_;               // by part: the best RowState::score of its rows
  std::vector<const RankSet*> in_;          // buckets of plain parts that reach the best total
  std::vector<uint32_t> won_in_, won_out_;  // ranks of special rows to choose from, and to leave out
};

}  // namespace berth::scheduler
