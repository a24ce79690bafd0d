// A set of ranks. The rank of a node is its position in Cache::in_order(), so the k-th
// node in this order that is in a set is found by counting, which is how round robin chooses among equals.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pkg/util/contract.h"

namespace berth::scheduler {

// A set of numbers below a limit with a fast count of the members in each block of kBlock numbers. A small set is a
// sorted vector. A set with more than max(16, limit / 128) members becomes a bitmap with the number of members in each
// block of kBlock bits; it remains one until it is empty.
//
// Invariant: either bits_ is empty and sorted_ has the members in ascending order, or sorted_ is empty and the members
// are the bits set in bits_, of which block_sizes_[b] are in block b.
class RankSet {
 public:
  static constexpr uint32_t kBlock = 512;

  explicit RankSet(uint32_t limit) : limit_(limit), most_sorted_(std::max(16u, limit / 128)) {}

  // REQUIRES: `rank` is below the limit and not in the set.
  void Insert(uint32_t rank) {
    BERTH_REQUIRES(rank < limit_ && !Has(rank));
    ++size_;
    if (bits_.empty()) return InsertSorted(rank);
    bits_[rank / 64] |= uint64_t{1} << (rank % 64);
    ++block_sizes_[rank / kBlock];
  }
  // Inserts ranks in ascending order. REQUIRES: the set is empty.
  void Fill(std::span<const uint32_t> ranks);
  // Inserts the ranks whose bits are set. REQUIRES: the set is empty; there are WordsFor(limit()) words.
  void FillBits(std::span<const uint64_t> words);
  // Returns how many words of 64 bits cover whole blocks up to the limit.
  static constexpr size_t WordsFor(uint32_t limit) { return (limit + kBlock - 1) / kBlock * (kBlock / 64); }
  // REQUIRES: `rank` is in the set.
  void Erase(uint32_t rank) {
    BERTH_REQUIRES(rank < limit_ && Has(rank));
    --size_;
    if (bits_.empty()) return EraseSorted(rank);
    bits_[rank / 64] &= ~(uint64_t{1} << (rank % 64));
    --block_sizes_[rank / kBlock];
    if (size_ == 0) bits_.clear();
  }
  uint32_t size() const { return size_; }
  // Returns the number of members below the rank. REQUIRES: `rank` is at most the limit.
  uint32_t CountBelow(uint32_t rank) const;
  // REQUIRES: `rank` is below the limit.
  bool Has(uint32_t rank) const {
    BERTH_REQUIRES(rank < limit_);
    if (bits_.empty()) return std::binary_search(sorted_.begin(), sorted_.end(), rank);
    return (bits_[rank / 64] >> (rank % 64) & 1) != 0;
  }
  // Returns a member. REQUIRES: the set is not empty.
  uint32_t Any() const;
  // Adds the number of members in each block to the block's number, or subtracts it.
  void AddCounts(std::span<uint32_t> counts) const;
  void SubtractCounts(std::span<uint32_t> counts) const;
  // Flips the members' bits in the words of one block.
  using Block = std::array<uint64_t, kBlock / 64>;
  void Flip(Block* words, uint32_t block) const;
  // Flips the bits of all members. REQUIRES: `words` covers whole blocks up to the limit.
  void FlipAll(std::span<uint64_t> words) const;
  uint32_t limit() const { return limit_; }
  size_t bytes() const {
    return sorted_.capacity() * sizeof(uint32_t) + bits_.capacity() * sizeof(uint64_t) +
           block_sizes_.capacity() * sizeof(uint16_t);
  }
  // Returns all members in ascending order if the set is a vector, and nothing if it is a bitmap.
  std::span<const uint32_t> sorted() const { return sorted_; }

 private:
  std::span<const uint32_t> SortedInBlock(uint32_t block) const;
  void InsertSorted(uint32_t rank);
  void EraseSorted(uint32_t rank);
  void MakeDense(std::span<const uint32_t> ranks);
  void CountBlocks();

  uint32_t limit_, most_sorted_;
  uint32_t size_ = 0;
  std::vector<uint32_t> sorted_;
  std::vector<uint64_t> bits_;
  std::vector<uint16_t> block_sizes_;  // number of members by block of bits_
};

// Ranks as the members of sets, and in a list in any order. A rank may be in several of them.
struct Ranks {
  std::span<const RankSet* const> sets;
  std::span<const uint32_t> list;
};

// Returns the k-th smallest, counted from 0, of the ranks that occur once more in `in` than in `out`. REQUIRES: all
// sets have this limit, and the lists are below it; every other rank occurs as often in `in` as in `out`; k is below
// the number of such ranks.
uint32_t SelectKth(const Ranks& in, const Ranks& out, uint32_t limit, uint32_t k);

}  // namespace berth::scheduler
