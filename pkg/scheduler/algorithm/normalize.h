// The two normalisations that many priorities share.
#pragma once
#include <cstdint>
#include <span>

namespace berth::scheduler {

// Scales the scores so that the largest becomes `max_score`, with integer division; reversed: the largest becomes 0.
// When the largest is 0 they stay as they are; reversed: all become max_score.
void NormalizeReduce(std::span<int64_t> scores, bool reverse, int64_t max_score);

// One score by the same rule, from the largest of all raw scores.
inline int64_t NormalizedScore(int64_t raw, int64_t largest, bool reverse, int64_t max_score) {
  if (largest == 0) return reverse ? max_score : raw;
  const int64_t scaled = max_score * raw / largest;
  return reverse ? max_score - scaled : scaled;
}

}  // namespace berth::scheduler
