// The scores of preferred affinity, which all releases find from the sums of weights in the same way.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "pkg/scheduler/algorithm/domain_rule.h"
#include "pkg/scheduler/algorithm/results_of_range.h"

namespace berth::scheduler::interpodaffinity {

// Scores each part by where its sum lies between the least and the largest of these: the sums of the parts that have
// nodes, and `start`. If all are equal, every part scores 0. The quotient of doubles is computed first and the product
// truncated, which loses a point for some values (bug B-23, kept). REQUIRES: there is one channel.
inline void ScoreByRange(const DomainParts& parts, int64_t start, int64_t max_score, std::span<int64_t> scores) {
  int64_t min = start, max = start;
  for (size_t i = 0; i < parts.size; ++i) {
    const int64_t sum = parts.nodes[i] > 0 ? parts.sums[i].value : start;
    min = std::min(min, sum);
    max = std::max(max, sum);
  }
  if (max - min <= 0) return std::fill(scores.begin(), scores.end(), 0);
  const double most = static_cast<double>(max_score), range = static_cast<double>(max - min);
  const auto score_of = ResultsOf<int64_t>(min, max, parts.size, [=](int64_t sum) {
    const double share = static_cast<double>(sum - min) / range;
    return static_cast<int64_t>(most * share);
  });
  for (size_t i = 0; i < parts.size; ++i) scores[i] = score_of(parts.sums[i].value);
}

}  // namespace berth::scheduler::interpodaffinity
