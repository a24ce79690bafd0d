// Ranks by score, best first. Buckets that become empty keep their memory for the next ones.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "pkg/scheduler/core/incremental/rank_set.h"

namespace berth::scheduler {

class ScoreBuckets {
 public:
  explicit ScoreBuckets(uint32_t limit) : limit_(limit) {}

  void Insert(int64_t score, uint32_t rank) { sets_[Find(score)].Insert(rank); }
  // Adds a bucket of ranks in ascending order. REQUIRES: the score is below all others.
  void Append(int64_t score, std::span<const uint32_t> ranks);
  void Erase(int64_t score, uint32_t rank);

  size_t size() const { return scores_.size(); }  // buckets; none is empty
  int64_t score(size_t i) const { return scores_[i]; }
  // Returns the score of the first bucket. REQUIRES: there is one.
  int64_t top() const { return top_; }
  const RankSet& ranks(size_t i) const { return sets_[i]; }
  size_t bytes() const;

 private:
  size_t Find(int64_t score);  // made, for the moment empty, when it is not there

  uint32_t limit_;
  int64_t top_ = 0;  // scores_[0], here so that it is read without following a pointer
  std::vector<int64_t> scores_;
  std::vector<RankSet> sets_;  // by place in scores_; behind them, spare empty ones
};

}  // namespace berth::scheduler
