// Ranks in buckets by score, the best score first. The memory of buckets that become empty is used again.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "pkg/scheduler/core/incremental/rank_set.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {

// Invariant: scores_ is in strictly descending order; sets_[i] has the ranks with scores_[i], at least one, and the
// sets behind those are empty.
class ScoreBuckets {
 public:
  // Ranks are below `limit`.
  explicit ScoreBuckets(uint32_t limit) : limit_(limit) {}

  void Insert(int32_t score, uint32_t rank) { sets_[Find(score)].Insert(rank); }
  // Adds a bucket of ranks in ascending order. REQUIRES: the score is below all others; `ranks` is not empty.
  void Append(int32_t score, std::span<const uint32_t> ranks);
  // The same with ranks as the bits of words (RankSet::FillBits).
  void AppendBits(int32_t score, std::span<const uint64_t> words);
  // REQUIRES: the rank is in the bucket of the score.
  void Erase(int32_t score, uint32_t rank);

  size_t size() const { return scores_.size(); }  // number of buckets
  int32_t score(size_t i) const { return scores_[i]; }
  // Returns the score of the first bucket. REQUIRES: there is a bucket.
  int32_t top() const {
    BERTH_REQUIRES(!scores_.empty());
    return top_;
  }
  const RankSet& ranks(size_t i) const { return sets_[i]; }
  size_t bytes() const;

 private:
  // Returns the index of the bucket with the score. Makes an empty one, which the caller must fill, when there is none.
  size_t Find(int32_t score);
  RankSet& AppendEmpty(int32_t score);

  uint32_t limit_;
  int32_t top_ = 0;  // scores_[0], copied here so that reading it follows no pointer
  std::vector<int32_t> scores_;
  std::vector<RankSet> sets_;
};

}  // namespace berth::scheduler
