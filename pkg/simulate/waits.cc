#include "pkg/simulate/waits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace berth::simulate {

// Keeps the 11 highest bits.
Micros Waits::Rounded(Micros wait) const {
  if (exact_) return wait;
  const int bits = std::bit_width(static_cast<uint64_t>(wait));
  const int dropped = std::max(bits - 11, 0);
  return wait >> dropped << dropped;
}

void Waits::Add(Micros wait) {
  ++count_;
  max_ = std::max(max_, wait);
  sum_ += static_cast<double>(wait);
  ++counts_[Rounded(wait)];
  if (!exact_ || counts_.size() <= kMostExact) return;
  exact_ = false;
  for (const auto& [value, pods] : std::exchange(counts_, {})) counts_[Rounded(value)] += pods;
}

Micros Waits::Percentile(double share) const {
  const auto rank = static_cast<int64_t>(std::ceil(share * static_cast<double>(count_)));
  int64_t seen = 0;
  for (const auto& [value, pods] : counts_) {
    seen += pods;
    if (seen >= rank) return value;
  }
  return max_;
}

}  // namespace berth::simulate
