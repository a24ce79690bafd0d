// The rows that the walk of a sampler finds (sampled_walk.h), for one decision of a class that is built. The walk looks
// at a part of the nodes, often a tenth, so that reading each of their states costs less than keeping rows in the order
// of the walk would. One decision calls Walk, and when the parts are scored, FindTies and Chosen. Buffers are kept, so
// that decisions allocate nothing.
//
// Loops have no branches on what a row is like. They are not compiled for wide vectors, because reading states, parts
// and totals by index with these is slower on many processors. Thread-safety: that of the Cache.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "pkg/scheduler/core/incremental/equivalence_class.h"
#include "pkg/scheduler/core/incremental/part_table.h"
#include "pkg/scheduler/core/incremental/sampled_walk.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {

class WalkedRows {
 public:
  // Finds the rows with their parts, which are added to the table, with the number of their rows, and sets what the
  // walk has found. `signature_of` has the signature of each row, all below `signatures`. REQUIRES: the class is built
  // and up to date; the table is empty.
  void Walk(const Cache& cache, const EquivalenceClass& of, std::span<const int32_t> signature_of, size_t signatures,
            SampledWalk* walk, PartTable* parts);
  // Finds the rows with the best total. REQUIRES: the parts of Walk were scored; there is a row.
  void FindTies(const PartTable& parts);
  size_t ties() const { return ties_.size(); }
  // Returns the row that round robin gives turn `turn` among the ties, in the order of Cache::in_order().
  Row Chosen(const Cache& cache, uint64_t turn);

  // Return the rows in the order of the walk, and by position their scores (RowState::score) and the indexes of their
  // parts.
  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<int32_t>& scores() const { return scores_; }
  const std::vector<int32_t>& part_of() const { return part_of_; }

 private:
  static constexpr int32_t kNotLooked = -2;  // instead of an index of a part
  void Begin(size_t groups, size_t signatures, size_t rows);
  template <typename States>
  size_t Take(std::span<const Row> from, States states, const int32_t* signature_of, size_t kept, PartTable* parts);
  int32_t PartFor(uint64_t place, PartTable* parts);
  void CountRows(PartTable* parts) const;
  template <typename Total>
  void FindTiesOf(const PartTable& parts, int64_t least);
  Row ChosenByRank(const Cache& cache, size_t turn);

  std::vector<Row> rows_;
  std::vector<int32_t> scores_, part_of_;  // by position in rows_
  bool wide_ = false;                      // whether scores may have more bits than those of packed states
  // The index of the part by place: 1 + the group, times stride_, plus the signature. Group -1, where the pods do not
  // fit, has no part. If there were too many places, the parts are in the map.
  std::vector<int32_t> table_;
  absl::flat_hash_map<uint64_t, int32_t> map_;
  bool by_table_ = true;
  uint64_t stride_ = 0;           // 64 bits, as the map's places may have more than 32
  std::vector<uint64_t> looked_;  // the places of table_ that have a part
  std::vector<uint32_t> ties_;    // positions in rows_
  RowSet candidates_;
};

}  // namespace berth::scheduler
