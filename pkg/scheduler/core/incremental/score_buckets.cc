#include "pkg/scheduler/core/incremental/score_buckets.h"

#include <algorithm>

#include "pkg/util/contract.h"

namespace berth::scheduler {

// Scores usually follow one another without gaps, and then the place of a bucket is known. Otherwise the better buckets
// are counted and not searched, because where a search would end is hard to predict. A new bucket takes the first of
// the spare sets behind the last bucket, which is rotated to its place.
size_t ScoreBuckets::Find(int32_t score) {
  const auto guess = static_cast<uint64_t>(int64_t{top_} - score);
  if (guess < scores_.size() && scores_[guess] == score) return guess;
  uint32_t better = 0;
  for (int32_t s : scores_) better += s > score ? 1 : 0;
  const size_t i = better;
  if (i < scores_.size() && scores_[i] == score) return i;
  if (sets_.size() == scores_.size()) sets_.emplace_back(limit_);
  auto at = sets_.begin() + static_cast<ptrdiff_t>(i), spare = sets_.begin() + static_cast<ptrdiff_t>(scores_.size());
  std::rotate(at, spare, spare + 1);
  scores_.insert(scores_.begin() + static_cast<ptrdiff_t>(i), score);
  top_ = scores_[0];
  return i;
}

RankSet& ScoreBuckets::AppendEmpty(int32_t score) {
  if (sets_.size() == scores_.size()) sets_.emplace_back(limit_);
  scores_.push_back(score);
  top_ = scores_[0];
  return sets_[scores_.size() - 1];
}

void ScoreBuckets::Append(int32_t score, std::span<const uint32_t> ranks) {
  BERTH_REQUIRES(!ranks.empty());
  BERTH_REQUIRES(scores_.empty() || score < scores_.back());
  AppendEmpty(score).Fill(ranks);
}

void ScoreBuckets::AppendBits(int32_t score, std::span<const uint64_t> words) {
  BERTH_REQUIRES(scores_.empty() || score < scores_.back());
  AppendEmpty(score).FillBits(words);
}

void ScoreBuckets::Erase(int32_t score, uint32_t rank) {
  BERTH_REQUIRES(std::ranges::count(scores_, score) == 1);
  size_t i = Find(score);
  sets_[i].Erase(rank);
  if (sets_[i].size() != 0) return;
  auto at = sets_.begin() + static_cast<ptrdiff_t>(i), end = sets_.begin() + static_cast<ptrdiff_t>(scores_.size());
  std::rotate(at, at + 1, end);
  scores_.erase(scores_.begin() + static_cast<ptrdiff_t>(i));
  if (!scores_.empty()) top_ = scores_[0];
}

size_t ScoreBuckets::bytes() const {
  size_t bytes = scores_.capacity() * sizeof(int32_t) + sets_.capacity() * sizeof(RankSet);
  for (const RankSet& s : sets_) bytes += s.bytes();
  return bytes;
}

}  // namespace berth::scheduler
