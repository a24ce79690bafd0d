#include "pkg/scheduler/algorithm/normalize.h"

#include <algorithm>

#include "pkg/util/wide_vectors.h"

namespace berth::scheduler {

void NormalizeReduce(std::span<int64_t> scores, bool reverse, int64_t max_score) {
  int64_t largest = 0;
  util::RunLoops([&]() BERTH_LOOPS {
    int64_t most = 0;
    for (const int64_t s : scores) most = s > most ? s : most;
    largest = most;
  });
  if (largest > 0) {
    for (int64_t& s : scores) s = NormalizedScore(s, largest, reverse, max_score);
  } else if (reverse) {
    std::fill(scores.begin(), scores.end(), max_score);
  }
}

void NormalizeByReversedFraction(std::span<int64_t> scores, int64_t max_score) {
  int64_t largest = 0;
  for (int64_t s : scores) largest = std::max(largest, s);
  for (int64_t& s : scores) s = ReversedFraction(s, largest, max_score);
}

}  // namespace berth::scheduler
