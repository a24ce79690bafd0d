// A set of numbers below a known limit that answers "how many are smaller than x" quickly: nodes by their place in name
// order. Small sets are sorted vectors, large ones bitmaps with counts by block. One that becomes empty keeps its
// memory.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::scheduler {

class RankSet {
 public:
  explicit RankSet(uint32_t limit) : limit_(limit), most_sorted_(std::max(64u, limit / 32)) {}

  void Insert(uint32_t rank);  // must not be in the set
  // Ranks in ascending order; the set must be empty.
  void Fill(std::span<const uint32_t> ranks);
  void Erase(uint32_t rank);  // must be in the set
  uint32_t size() const { return size_; }
  // Members from `from` up to but not including `to`. From block to block quickly.
  uint32_t CountBetween(uint32_t from, uint32_t to) const;
  // Returns a member. REQUIRES: the set is not empty.
  uint32_t Any() const;
  // Sets or clears the members' bits. REQUIRES: `words` has whole blocks of bits for the limit.
  void AddTo(std::vector<uint64_t>* words) const;
  void TakeFrom(std::vector<uint64_t>* words) const;
  uint32_t limit() const { return limit_; }
  size_t bytes() const {
    return sorted_.capacity() * sizeof(uint32_t) + bits_.capacity() * sizeof(uint64_t) +
           block_sizes_.capacity() * sizeof(uint16_t);
  }
  static constexpr uint32_t kBlock = 512;
  // All members in ascending order, of a small set; empty for a large one.
  std::span<const uint32_t> sorted() const { return sorted_; }

 private:
  void MakeDense(std::span<const uint32_t> ranks);

  uint32_t limit_, most_sorted_;
  uint32_t size_ = 0;
  std::vector<uint32_t> sorted_;       // while small
  std::vector<uint64_t> bits_;         // else
  std::vector<uint16_t> block_sizes_;  // members by block of bits_
};

// The k-th smallest (from 0) of all members of `in` that are not members of `out`. The sets of `in` share no member,
// and each set of `out` is part of one of `in`. k is below their difference in size.
uint32_t SelectKth(std::span<const RankSet* const> in, std::span<const RankSet* const> out, uint32_t k);

}  // namespace berth::scheduler
