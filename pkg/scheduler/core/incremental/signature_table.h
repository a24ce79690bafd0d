// Short rows of numbers, each distinct one kept once under a small number.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <span>
#include <vector>

namespace berth::scheduler {

// Number 0 is the row of zeros. Rows that nobody uses any more give their numbers back.
class SignatureTable {
 public:
  // All signatures have `width` values; forgets those of before.
  void Reset(size_t width);
  // Returns the number of the row and counts one more use. REQUIRES: values.size() is the width.
  int32_t Use(std::span<const int64_t> values);
  void Release(int32_t number);
  std::span<const int64_t> values(int32_t number) const {
    return {values_.data() + static_cast<size_t>(number) * width_, width_};
  }
  size_t bytes() const { return values_.capacity() * 8 + uses_.capacity() * 8 + first_.capacity() * 17; }

 private:
  size_t width_ = 0;
  std::vector<int64_t> values_;  // by number
  std::vector<uint32_t> uses_;
  std::vector<int32_t> free_;
  std::vector<int32_t> next_;                   // by number: another row of the same hash, or 0
  absl::flat_hash_map<size_t, int32_t> first_;  // by hash
};

}  // namespace berth::scheduler
