// A set of ranks. The rank of a node is its position in the descending order of names (Cache::NameRank), so the k-th
// node in this order that is in a set is found by counting, which is how round robin chooses among equals.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::scheduler {

// A set of numbers below a limit with a fast count of the members in a range. A small set is a sorted vector. A set
// with more than max(64, limit / 32) members becomes a bitmap with the number of members in each block of kBlock bits;
// it remains one until it is empty.
//
// Invariant: either bits_ is empty and sorted_ has the members in ascending order, or sorted_ is empty and the members
// are the bits set in bits_, of which block_sizes_[b] are in block b.
class RankSet {
 public:
  explicit RankSet(uint32_t limit) : limit_(limit), most_sorted_(std::max(64u, limit / 32)) {}

  // Erases everything and sets another limit. The memory is used again.
  void Reset(uint32_t limit);
  // REQUIRES: `rank` is below the limit and not in the set.
  void Insert(uint32_t rank);
  // Inserts ranks in ascending order. REQUIRES: the set is empty.
  void Fill(std::span<const uint32_t> ranks);
  // REQUIRES: `rank` is in the set.
  void Erase(uint32_t rank);
  uint32_t size() const { return size_; }
  // Returns the number of members in [from, to). Fast if both are multiples of kBlock.
  uint32_t CountBetween(uint32_t from, uint32_t to) const;
  // Returns a member. REQUIRES: the set is not empty.
  uint32_t Any() const;
  // Set (AddTo) or clear (TakeFrom) the members' bits. REQUIRES: `words` covers whole blocks up to the limit.
  void AddTo(std::vector<uint64_t>* words) const;
  void TakeFrom(std::vector<uint64_t>* words) const;
  uint32_t limit() const { return limit_; }
  size_t bytes() const {
    return sorted_.capacity() * sizeof(uint32_t) + bits_.capacity() * sizeof(uint64_t) +
           block_sizes_.capacity() * sizeof(uint16_t);
  }
  static constexpr uint32_t kBlock = 512;
  // Returns all members in ascending order if the set is a vector, and nothing if it is a bitmap.
  std::span<const uint32_t> sorted() const { return sorted_; }

 private:
  void MakeDense(std::span<const uint32_t> ranks);

  uint32_t limit_, most_sorted_;
  uint32_t size_ = 0;
  std::vector<uint32_t> sorted_;
  std::vector<uint64_t> bits_;
  std::vector<uint16_t> block_sizes_;  // number of members by block of bits_
};

// Returns the k-th smallest, counted from 0, of the members of `in` that are not members of `out`. REQUIRES: all sets
// have the same limit; the sets of `in` are disjoint; the sets of `out` are disjoint, and each is a subset of a set of
// `in`; k is below the number of such members.
uint32_t SelectKth(std::span<const RankSet* const> in, std::span<const RankSet* const> out, uint32_t k);

}  // namespace berth::scheduler
