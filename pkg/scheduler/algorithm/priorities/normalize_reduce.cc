#include <algorithm>

#include "pkg/scheduler/algorithm/priorities/priorities.h"

namespace berth::scheduler::priorities {

void NormalizeReduce(std::span<int64_t> scores, bool reverse) {
  int64_t max = 0;
  for (int64_t s : scores) max = std::max(max, s);
  if (max == 0) {
    if (reverse) std::fill(scores.begin(), scores.end(), kMaxPriority);
    return;
  }
  for (int64_t& s : scores) {
    s = kMaxPriority * s / max;
    if (reverse) s = kMaxPriority - s;
  }
}

}  // namespace berth::scheduler::priorities
