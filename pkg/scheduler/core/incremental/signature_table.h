// Interns signatures (domain_overlay.h): short lists of values of which each distinct one is stored once and identified
// by a small number.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::scheduler {

// Number 0 is the signature whose values are all 0. It is always there, and its uses are not counted. The number of any
// other signature becomes free when it has been released as often as it was used.
class SignatureTable {
 public:
  // Drops all signatures. New ones have `width` values.
  void Reset(size_t width);
  // Returns the number of the signature and counts a use. REQUIRES: values.size() is the width.
  int32_t Use(std::span<const int64_t> values) {
    // Most signatures are a single small value; the numbers of those are found without a hash.
    if (width_ == 1 && static_cast<uint64_t>(values[0]) < kDirect) {
      if (const int32_t number = direct_[static_cast<size_t>(values[0])]; number != 0) {
        ++uses_[static_cast<size_t>(number)];
        return number;
      }
    }
    return LookUp(values);
  }
  // Takes the signatures of `rows` rows without a look at whether any are equal: row r gets number r + 1. `values` are
  // those of number 0, which are all 0, then those of number 1, ...; the vector gets others for reuse. REQUIRES:
  // neither Use nor Release is called until the next Reset.
  void TakeAll(std::vector<int64_t>* values, size_t rows);
  // Subtracts a use.
  void Release(int32_t number);
  std::span<const int64_t> values(int32_t number) const {
    return {values_.data() + static_cast<size_t>(number) * width_, width_};
  }
  // Returns a number above those of all signatures.
  size_t size() const { return uses_.size(); }
  size_t bytes() const { return values_.capacity() * 8 + uses_.capacity() * 8 + first_.capacity() * 4; }

 private:
  static constexpr uint64_t kDirect = 64;

  int32_t LookUp(std::span<const int64_t> values);
  int32_t* FirstOf(std::span<const int64_t> values);
  void SetDirect(int32_t number, int32_t entry);
  void Grow();

  size_t width_ = 0;
  std::vector<int64_t> values_;  // by number, width_ values each
  std::vector<uint32_t> uses_;   // by number
  std::vector<int32_t> free_;    // numbers without a signature, for reuse
  // The signatures whose hashes have the same upper bits are a list: first_[bits], next_[first_[bits]], ..., up to 0.
  // The size of first_ is a power of two, or 0.
  std::vector<int32_t> next_, first_;
  std::array<int32_t, kDirect> direct_{};  // with a width of 1: by value, the number of the signature or 0
  int shift_ = 63;                         // a hash's upper bits are what is left when it is shifted by this
};

}  // namespace berth::scheduler
