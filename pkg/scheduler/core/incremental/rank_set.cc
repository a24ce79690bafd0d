#include "pkg/scheduler/core/incremental/rank_set.h"

#include <algorithm>
#include <bit>

#include "pkg/util/contract.h"
#include "pkg/util/wide_vectors.h"

namespace berth::scheduler {
namespace {

// The first capacity of sorted_, so that the first members do not make it grow one by one.
constexpr size_t kFirstCapacity = 8;

// Compilers turn these steps into the instruction that counts bits where there is one, as in RunLoops. Elsewhere,
// std::popcount would be a call.
BERTH_LOOPS inline uint32_t CountBits(uint64_t word) {
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
  return static_cast<uint32_t>(word * 0x0101010101010101 >> 56);
}

uint32_t CountAllBits(std::span<const uint64_t> words) {
  uint32_t total = 0;
  util::RunLoops([words, &total]() BERTH_LOOPS {
    uint32_t count = 0;
    for (const uint64_t word : words) count += CountBits(word);
    total = count;
  });
  return total;
}

// Returns the number of ranks below `rank`. Where the rank is cannot be predicted, so no step branches on it.
ptrdiff_t PlaceIn(const std::vector<uint32_t>& sorted, uint32_t rank) {
  const uint32_t* at = sorted.data();
  for (size_t left = sorted.size(); left > 0;) {
    const size_t half = (left + 1) / 2;
    at += at[half - 1] < rank ? half : 0;
    left -= half;
  }
  return at - sorted.data();
}

// Returns how many ranks there are, each as often as it occurs.
[[maybe_unused]] size_t SizeOf(const Ranks& ranks) {
  size_t size = ranks.list.size();
  for (const RankSet* set : ranks.sets) size += set->size();
  return size;
}

}  // namespace

// Turns the set into a bitmap of whole blocks.
void RankSet::MakeDense(std::span<const uint32_t> ranks) {
  bits_.assign(WordsFor(limit_), 0);
  for (uint32_t r : ranks) bits_[r / 64] |= uint64_t{1} << (r % 64);
  sorted_.clear();
  CountBlocks();
}

void RankSet::CountBlocks() {
  block_sizes_.assign(bits_.size() / (kBlock / 64), 0);
  util::RunLoops([words = bits_.data(), sizes = block_sizes_.data(), blocks = block_sizes_.size()]() BERTH_LOOPS {
    for (size_t b = 0; b < blocks; ++b) {
      uint32_t size = 0;
      for (size_t w = 0; w < kBlock / 64; ++w) size += CountBits(words[b * (kBlock / 64) + w]);
      sizes[b] = static_cast<uint16_t>(size);
    }
  });
}

void RankSet::Fill(std::span<const uint32_t> ranks) {
  BERTH_REQUIRES(size_ == 0);
  BERTH_REQUIRES(std::ranges::is_sorted(ranks) && (ranks.empty() || ranks.back() < limit_));
  size_ = static_cast<uint32_t>(ranks.size());
  if (ranks.size() > most_sorted_) {
    MakeDense(ranks);
  } else {
    sorted_.assign(ranks.begin(), ranks.end());
  }
}

void RankSet::FillBits(std::span<const uint64_t> words) {
  BERTH_REQUIRES(size_ == 0);
  BERTH_REQUIRES(words.size() == WordsFor(limit_));
  size_ = CountAllBits(words);
  if (size_ > most_sorted_) {
    bits_.assign(words.begin(), words.end());
    return CountBlocks();
  }
  sorted_.reserve(std::max<size_t>(size_, kFirstCapacity));
  for (uint32_t w = 0; w < words.size(); ++w) {
    for (uint64_t bits = words[w]; bits != 0; bits &= bits - 1) {
      sorted_.push_back(w * 64 + static_cast<uint32_t>(std::countr_zero(bits)));
    }
  }
}

void RankSet::InsertSorted(uint32_t rank) {
  if (sorted_.capacity() == 0) sorted_.reserve(kFirstCapacity);
  bool last = sorted_.empty() || sorted_.back() < rank;
  sorted_.insert(last ? sorted_.end() : sorted_.begin() + PlaceIn(sorted_, rank), rank);
  if (sorted_.size() > most_sorted_) MakeDense(sorted_);
}

void RankSet::EraseSorted(uint32_t rank) {
  sorted_.erase(sorted_.begin() + PlaceIn(sorted_, rank));
}

uint32_t RankSet::CountBelow(uint32_t rank) const {
  BERTH_REQUIRES(rank <= limit_);
  if (bits_.empty()) {
    return sorted_.empty() ? 0 : static_cast<uint32_t>(PlaceIn(sorted_, rank));
  }
  uint32_t below = 0;
  util::RunLoops([&below, sizes = block_sizes_.data(), bits = bits_.data(), rank]() BERTH_LOOPS {
    uint32_t count = 0;
    const uint32_t block = rank / kBlock;
    for (uint32_t b = 0; b < block; ++b) count += sizes[b];
    uint32_t word = block * (kBlock / 64);
    for (; word < rank / 64; ++word) count += CountBits(bits[word]);
    if (rank % 64 != 0) count += CountBits(bits[word] & ((uint64_t{1} << (rank % 64)) - 1));
    below = count;
  });
  return below;
}

uint32_t RankSet::Any() const {
  BERTH_REQUIRES(size_ > 0);
  if (bits_.empty()) return sorted_.front();
  size_t word = 0;
  while (block_sizes_[word / (kBlock / 64)] == 0) word += kBlock / 64;
  while (bits_[word] == 0) ++word;
  return static_cast<uint32_t>(word * 64 + static_cast<size_t>(std::countr_zero(bits_[word])));
}

void RankSet::AddCounts(std::span<uint32_t> counts) const {
  for (uint32_t rank : sorted_) ++counts[rank / kBlock];
  if (!bits_.empty()) {
    for (size_t b = 0; b < block_sizes_.size(); ++b) counts[b] += block_sizes_[b];
  }
}

void RankSet::SubtractCounts(std::span<uint32_t> counts) const {
  for (uint32_t rank : sorted_) --counts[rank / kBlock];
  if (!bits_.empty()) {
    for (size_t b = 0; b < block_sizes_.size(); ++b) counts[b] -= block_sizes_[b];
  }
}

std::span<const uint32_t> RankSet::SortedInBlock(uint32_t block) const {
  const auto first = std::lower_bound(sorted_.begin(), sorted_.end(), block * kBlock);
  return {first, std::lower_bound(first, sorted_.end(), (block + 1) * kBlock)};
}

void RankSet::Flip(Block* words, uint32_t block) const {
  for (uint32_t rank : SortedInBlock(block)) (*words)[rank % kBlock / 64] ^= uint64_t{1} << (rank % 64);
  if (bits_.empty()) return;
  const uint64_t* from = bits_.data() + size_t{block} * words->size();
  for (size_t w = 0; w < words->size(); ++w) (*words)[w] ^= from[w];
}

void RankSet::FlipAll(std::span<uint64_t> words) const {
  BERTH_REQUIRES(words.size() >= WordsFor(limit_));
  for (uint32_t rank : sorted_) words[rank / 64] ^= uint64_t{1} << (rank % 64);
  for (size_t w = 0; w < bits_.size(); ++w) words[w] ^= bits_[w];
}

namespace {

// SelectKth combines the bits of all blocks if there are more sets than this. They have few members each then, and
// going through these once is cheaper than finding those of one block in each set.
constexpr size_t kManySets = 32;

// The numbers of so many blocks are added up at a time, which a compiler turns into vector instructions.
constexpr uint32_t kBlocksAdded = 64;

// Returns the position of the k-th bit that is set, counted from 0. REQUIRES: there is one.
uint32_t SelectBit(std::span<const uint64_t> words, uint32_t k) {
  for (uint32_t w = 0;; ++w) {
    const uint32_t here = CountBits(words[w]);
    if (k >= here) {
      k -= here;
      continue;
    }
    uint64_t bits = words[w];
    for (; k > 0; --k) bits &= bits - 1;
    return w * 64 + static_cast<uint32_t>(std::countr_zero(bits));
  }
}

// Flips the bits of these ranks.
void FlipRanks(const Ranks& ranks, std::span<uint64_t> words) {
  for (const RankSet* s : ranks.sets) s->FlipAll(words);
  for (uint32_t rank : ranks.list) words[rank / 64] ^= uint64_t{1} << (rank % 64);
}

// Flips the bits of the ranks in one block.
void FlipRanksOfBlock(const Ranks& ranks, RankSet::Block* words, uint32_t block) {
  for (const RankSet* s : ranks.sets) s->Flip(words, block);
  for (uint32_t rank : ranks.list) {
    if (rank / RankSet::kBlock == block) (*words)[rank % RankSet::kBlock / 64] ^= uint64_t{1} << (rank % 64);
  }
}

}  // namespace

// Finds the block by the numbers of members, and then looks at the bits of this block alone. A rank that occurs an odd
// number of times occurs once more in `in` than in `out`.
uint32_t SelectKth(const Ranks& in, const Ranks& out, uint32_t limit, uint32_t k) {
  BERTH_REQUIRES(std::ranges::all_of(in.sets, [&](const RankSet* s) { return s->limit() == limit; }));
  BERTH_REQUIRES(k < SizeOf(in) - SizeOf(out));
  if (in.sets.size() == 1 && in.list.empty() && out.sets.empty() && out.list.empty() && !in.sets[0]->sorted().empty()) {
    return in.sets[0]->sorted()[k];
  }
  const size_t blocks = limit / RankSet::kBlock + 1;
  if (in.sets.size() > kManySets) {
    thread_local std::vector<uint64_t> all;
    all.assign(blocks * RankSet::Block().size(), 0);
    FlipRanks(in, all);
    FlipRanks(out, all);
    return SelectBit(all, k);
  }
  thread_local std::vector<uint32_t> counts;
  counts.assign(blocks, 0);
  for (const RankSet* s : in.sets) s->AddCounts(counts);
  for (const RankSet* s : out.sets) s->SubtractCounts(counts);
  for (uint32_t rank : in.list) ++counts[rank / RankSet::kBlock];
  for (uint32_t rank : out.list) --counts[rank / RankSet::kBlock];
  uint32_t block = 0;
  for (uint32_t sum; block + kBlocksAdded <= blocks; block += kBlocksAdded, k -= sum) {
    sum = 0;
    for (size_t b = 0; b < kBlocksAdded; ++b) sum += counts[block + b];
    if (k < sum) break;
  }
  for (; k >= counts[block]; ++block) k -= counts[block];
  RankSet::Block words{};
  FlipRanksOfBlock(in, &words, block);
  FlipRanksOfBlock(out, &words, block);
  return block * RankSet::kBlock + SelectBit(words, k);
}

}  // namespace berth::scheduler
