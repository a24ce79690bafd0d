// A set of rows (cache.h) as a bitmap.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace berth::scheduler {

class RowSet {
 public:
  // Makes the bitmap as long as rows 0 .. rows - 1 need. New rows are absent.
  void Resize(uint32_t rows) { words_.resize((rows + 63) / 64, 0); }
  bool Has(uint32_t row) const { return row / 64 < words_.size() && (words_[row / 64] >> (row % 64) & 1) != 0; }
  void Insert(uint32_t row) {
    if (row / 64 >= words_.size()) words_.resize(row / 64 + 1, 0);
    words_[row / 64] |= uint64_t{1} << (row % 64);
  }
  void Erase(uint32_t row) {
    if (row / 64 < words_.size()) words_[row / 64] &= ~(uint64_t{1} << (row % 64));
  }
  void IntersectWith(const RowSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= i < other.words_.size() ? other.words_[i] : 0;
  }
  void Subtract(const RowSet& other) {
    const size_t both = std::min(words_.size(), other.words_.size());
    for (size_t i = 0; i < both; ++i) words_[i] &= ~other.words_[i];
  }
  void Clear() { words_.assign(words_.size(), 0); }
  bool empty() const {
    for (uint64_t w : words_) {
      if (w != 0) return false;
    }
    return true;
  }
  uint32_t Size() const {
    uint32_t n = 0;
    for (uint64_t w : words_) n += static_cast<uint32_t>(std::popcount(w));
    return n;
  }
  // Calls f(row) for each row of the set in ascending order. `f` may erase the row that it is called with.
  template <typename F>
  void ForEach(F f) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t w = words_[i]; w != 0; w &= w - 1) f(static_cast<uint32_t>(i * 64 + std::countr_zero(w)));
    }
  }
  // The same for each row that is not in the other set.
  template <typename F>
  void ForEachNotIn(const RowSet& other, F f) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      uint64_t w = words_[i] & ~(i < other.words_.size() ? other.words_[i] : 0);
      for (; w != 0; w &= w - 1) f(static_cast<uint32_t>(i * 64 + std::countr_zero(w)));
    }
  }
  // Returns the bitmap: row r is bit r % 64 of word r / 64.
  std::vector<uint64_t>& words() { return words_; }
  const std::vector<uint64_t>& words() const { return words_; }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace berth::scheduler
