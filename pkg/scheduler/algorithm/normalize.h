// The two normalisations that many priorities use. Source: NormalizeReduce in
// pkg/scheduler/algorithm/priorities/reduce.go (1.10) and DefaultNormalizeScore in
// pkg/scheduler/framework/plugins/helper/normalize_score.go (1.29).
#pragma once
#include <cstdint>
#include <span>

namespace berth::scheduler {

// Scales the scores so that the largest becomes `max_score`, with integer division that truncates. With `reverse`, each
// result is subtracted from max_score, so that the largest becomes 0. If no score is above 0, the scores stay as they
// are; with `reverse`, all become max_score.
void NormalizeReduce(std::span<int64_t> scores, bool reverse, int64_t max_score);

// Returns one normalised score, given the largest of all raw scores (at least 0).
inline int64_t NormalizedScore(int64_t raw, int64_t largest, bool reverse, int64_t max_score) {
  if (largest == 0) return reverse ? max_score : raw;
  const int64_t scaled = max_score * raw / largest;
  return reverse ? max_score - scaled : scaled;
}

}  // namespace berth::scheduler
