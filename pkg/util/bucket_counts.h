// Histograms as plain values, for metrics.
//
// Thread-safety: none.
#pragma once
#include <absl/time/time.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace berth::util {

// A histogram. `Bounds` has Value, the type of the observed values; kBuckets, the number of buckets; and Bound(i), the
// inclusive upper bound of bucket i. Values above all bounds are counted in one more bucket, +Inf.
template <typename Bounds>
class BucketCounts {
 public:
  using Value = typename Bounds::Value;
  static constexpr size_t kBuckets = Bounds::kBuckets;
  static constexpr Value Bound(size_t i) { return Bounds::Bound(i); }
  void Observe(Value value, uint64_t times = 1) {
    size_t i = 0;
    while (i < kBuckets && value > Bound(i)) ++i;
    counts_[i] += times;
    sum_ += value * static_cast<Value>(times);
  }
  // Durations are counted in microseconds if the values are whole numbers, otherwise in seconds.
  void Observe(absl::Duration d, uint64_t times = 1) {
    if constexpr (std::is_integral_v<Value>) {
      Observe(d / absl::Microseconds(1), times);
    } else {
      Observe(absl::ToDoubleSeconds(d), times);
    }
  }
  // Returns the number of observations in bucket i alone, without those of lower buckets. Bucket kBuckets is +Inf.
  uint64_t count_in(size_t i) const { return counts_[i]; }
  Value sum() const { return sum_; }
  uint64_t count() const {
    uint64_t n = 0;
    for (uint64_t c : counts_) n += c;
    return n;
  }

 private:
  std::array<uint64_t, kBuckets + 1> counts_{};
  Value sum_ = 0;
};

// The upper bounds kFirst * 2^k for k = 0 .. N - 1.
template <int64_t kFirst, size_t N>
struct DoublingBounds {
  using Value = int64_t;
  static constexpr size_t kBuckets = N;
  static constexpr int64_t Bound(size_t i) { return kFirst << i; }
};
template <int64_t kFirst, size_t N>
using HistogramOf = BucketCounts<DoublingBounds<kFirst, N>>;

// The upper bounds kFirstMicros * (kTenths / 10)^k for k = 0 .. N - 1, in seconds.
template <int kFirstMicros, int kTenths, size_t N>
struct GrowingBounds {
  using Value = double;
  static constexpr size_t kBuckets = N;
  static constexpr double Bound(size_t i) { return kBounds[i]; }
  static constexpr std::array<double, N> kBounds = [] {
    std::array<double, N> bounds{};
    double bound = kFirstMicros / 1e6;
    for (double& b : bounds) {
      b = bound;
      bound *= kTenths / 10.0;
    }
    return bounds;
  }();
};
template <int kFirstMicros, int kTenths, size_t N>
using SecondsHistogram = BucketCounts<GrowingBounds<kFirstMicros, kTenths, N>>;

}  // namespace berth::util
