#include "pkg/scheduler/core/rank_set.h"

#include <algorithm>
#include <bit>

namespace berth::scheduler {

void RankSet::MakeDense(std::span<const uint32_t> ranks) {
  bits_.assign((limit_ + kBlock - 1) / kBlock * (kBlock / 64), 0);
  block_sizes_.assign((limit_ + kBlock - 1) / kBlock, 0);
  for (uint32_t r : ranks) {
    bits_[r / 64] |= uint64_t{1} << (r % 64);
    ++block_sizes_[r / kBlock];
  }
  sorted_.clear();
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

uint32_t RankSet::CountBelow(uint32_t rank) const {
  if (bits_.empty()) {
    return static_cast<uint32_t>(std::lower_bound(sorted_.begin(), sorted_.end(), rank) - sorted_.begin());
  }
  if (rank >= limit_) return size_;
  uint32_t count = 0;
  uint32_t block = rank / kBlock;
  for (uint32_t b = 0; b < block; ++b) count += block_sizes_[b];
  for (uint32_t w = block * (kBlock / 64); w < rank / 64; ++w) count += static_cast<uint32_t>(std::popcount(bits_[w]));
  return count + static_cast<uint32_t>(std::popcount(bits_[rank / 64] & ((uint64_t{1} << (rank % 64)) - 1)));
}

uint32_t SelectKth(std::span<const RankSet* const> in, std::span<const RankSet* const> out, uint32_t k) {
  if (in.size() == 1 && out.empty() && !in[0]->sorted().empty()) return in[0]->sorted()[k];
  uint32_t low = 0, high = in.front()->limit();  // the answer is in [low, high)
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    uint32_t below = 0;
    for (const RankSet* s : in) below += s->CountBelow(middle);
    for (const RankSet* s : out) below -= s->CountBelow(middle);
    if (below > k) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return low;
}

}  // namespace berth::scheduler
