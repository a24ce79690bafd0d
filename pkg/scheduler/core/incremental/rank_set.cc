#include "pkg/scheduler/core/incremental/rank_set.h"

#include <algorithm>
#include <bit>

namespace berth::scheduler {
namespace {

// The first capacity of sorted_, so that the first members do not make it grow one by one.
constexpr size_t kFirstCapacity = 8;

}  // namespace

// Turns the set into a bitmap of whole blocks.
void RankSet::MakeDense(std::span<const uint32_t> ranks) {
  bits_.assign((limit_ + kBlock - 1) / kBlock * (kBlock / 64), 0);
  block_sizes_.assign((limit_ + kBlock - 1) / kBlock, 0);
  for (uint32_t r : ranks) {
    bits_[r / 64] |= uint64_t{1} << (r % 64);
    ++block_sizes_[r / kBlock];
  }
  sorted_.clear();
}

void RankSet::Reset(uint32_t limit) {
  limit_ = limit;
  most_sorted_ = std::max(64u, limit / 32);
  size_ = 0;
  sorted_.clear();
  bits_.clear();
}

void RankSet::Fill(std::span<const uint32_t> ranks) {
  size_ = static_cast<uint32_t>(ranks.size());
  if (ranks.size() > most_sorted_) {
    MakeDense(ranks);
  } else {
    sorted_.assign(ranks.begin(), ranks.end());
  }
}

void RankSet::Insert(uint32_t rank) {
  ++size_;
  if (bits_.empty()) {
    if (sorted_.capacity() == 0) sorted_.reserve(kFirstCapacity);
    bool last = sorted_.empty() || sorted_.back() < rank;
    sorted_.insert(last ? sorted_.end() : std::lower_bound(sorted_.begin(), sorted_.end(), rank), rank);
    if (sorted_.size() > most_sorted_) MakeDense(sorted_);
    return;
  }
  bits_[rank / 64] |= uint64_t{1} << (rank % 64);
  ++block_sizes_[rank / kBlock];
}

void RankSet::Erase(uint32_t rank) {
  --size_;
  if (bits_.empty()) {
    sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), rank));
    return;
  }
  bits_[rank / 64] &= ~(uint64_t{1} << (rank % 64));
  --block_sizes_[rank / kBlock];
  if (size_ == 0) bits_.clear();
}

uint32_t RankSet::Any() const {
  if (bits_.empty()) return sorted_.front();
  size_t word = 0;
  while (block_sizes_[word / (kBlock / 64)] == 0) word += kBlock / 64;
  while (bits_[word] == 0) ++word;
  return static_cast<uint32_t>(word * 64 + static_cast<size_t>(std::countr_zero(bits_[word])));
}

// Counts whole blocks by their sizes, and the words before the first and behind the last whole block bit by bit.
uint32_t RankSet::CountBetween(uint32_t from, uint32_t to) const {
  if (bits_.empty()) {
    auto first = std::lower_bound(sorted_.begin(), sorted_.end(), from);
    return static_cast<uint32_t>(std::lower_bound(first, sorted_.end(), to) - first);
  }
  uint32_t count = 0;
  auto add_words = [&](uint32_t begin, uint32_t end) {
    for (uint32_t w = begin / 64; w * 64 < end; ++w) {
      uint64_t bits = bits_[w];
      if (begin > w * 64) bits &= ~uint64_t{0} << (begin % 64);
      if (end < w * 64 + 64) bits &= (uint64_t{1} << (end % 64)) - 1;
      count += static_cast<uint32_t>(std::popcount(bits));
    }
  };
  const uint32_t first_block = (from + kBlock - 1) / kBlock, last_block = to / kBlock;
  if (first_block > last_block) {
    add_words(from, to);
    return count;
  }
  add_words(from, first_block * kBlock);
  for (uint32_t b = first_block; b < last_block; ++b) count += block_sizes_[b];
  add_words(last_block * kBlock, to);
  return count;
}

void RankSet::AddTo(std::vector<uint64_t>* words) const {
  for (uint32_t rank : sorted_) (*words)[rank / 64] |= uint64_t{1} << (rank % 64);
  for (size_t w = 0; w < bits_.size(); ++w) (*words)[w] |= bits_[w];
}

void RankSet::TakeFrom(std::vector<uint64_t>* words) const {
  for (uint32_t rank : sorted_) (*words)[rank / 64] &= ~(uint64_t{1} << (rank % 64));
  for (size_t w = 0; w < bits_.size(); ++w) (*words)[w] &= ~bits_[w];
}

namespace {

// SelectKth for many sets, which then have few members each: makes one bitmap of all of them.
uint32_t SelectFromBitmap(std::span<const RankSet* const> in, std::span<const RankSet* const> out, uint32_t k) {
  thread_local std::vector<uint64_t> words;
  words.assign(in.front()->limit() / RankSet::kBlock * (RankSet::kBlock / 64) + RankSet::kBlock / 64, 0);
  for (const RankSet* s : in) s->AddTo(&words);
  for (const RankSet* s : out) s->TakeFrom(&words);
  for (size_t w = 0;; ++w) {
    const uint32_t here = static_cast<uint32_t>(std::popcount(words[w]));
    if (k >= here) {
      k -= here;
      continue;
    }
    uint64_t bits = words[w];
    for (; k > 0; --k) bits &= bits - 1;
    return static_cast<uint32_t>(w * 64 + static_cast<size_t>(std::countr_zero(bits)));
  }
}

}  // namespace

// A binary search for the rank with k members below it. The search divides at the ends of blocks, and then of words, as
// long as it can, because members are counted fastest there.
uint32_t SelectKth(std::span<const RankSet* const> in, std::span<const RankSet* const> out, uint32_t k) {
  constexpr size_t kManySets = 32;
  if (in.size() == 1 && out.empty() && !in[0]->sorted().empty()) return in[0]->sorted()[k];
  if (in.size() > kManySets) return SelectFromBitmap(in, out, k);
  uint32_t low = 0, high = in.front()->limit();  // the answer is the k-th member in [low, high)
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    for (uint32_t unit : {RankSet::kBlock, 64u}) {
      if (uint32_t edge = middle / unit * unit; edge > low) {
        middle = edge;
        break;
      }
    }
    uint32_t below = 0;
    for (const RankSet* s : in) below += s->CountBetween(low, middle);
    for (const RankSet* s : out) below -= s->CountBetween(low, middle);
    if (below > k) {
      high = middle;
    } else {
      k -= below;
      low = middle;
    }
  }
  return low;
}

}  // namespace berth::scheduler
