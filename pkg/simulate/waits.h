// How long pods waited: a distribution of bounded size.
#pragma once
#include <absl/container/btree_map.h>

#include <cstdint>

#include "pkg/simulate/virtual_clock.h"

namespace berth::simulate {

// Counts times. Percentiles are exact until there are more than kMostExact different values; after that they are exact
// to one thousandth. The size does not depend on the number of times. Thread-safety: as a standard container.
class Waits {
 public:
  static constexpr size_t kMostExact = 8'192;

  void Add(Micros wait);
  int64_t count() const { return count_; }
  // Returns the least value that is not smaller than this share of the values; 0 if there are none.
  Micros Percentile(double share) const;
  Micros max() const { return max_; }
  double Mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

 private:
  Micros Rounded(Micros wait) const;

  absl::btree_map<Micros, int64_t> counts_;
  bool exact_ = true;
  int64_t count_ = 0;
  Micros max_ = 0;
  double sum_ = 0;
};

}  // namespace berth::simulate
