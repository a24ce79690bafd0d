#include "pkg/scheduler/cache/change_log.h"

#include <bit>
#include <iterator>

namespace berth::scheduler {
namespace {

constexpr size_t kMinChangesKept = 1 << 10;  // a power of two

}  // namespace

// The ring must hold one change of every row, so that a reader that was up to date before a round over all rows does
// not have to start from scratch. Each change but the one that is being entered moves to its place in the larger ring.
void ChangeLog::Grow(size_t rows) {
  std::vector<uint32_t> larger(std::max(kMinChangesKept, std::bit_ceil(2 * rows)), 0);
  const uint64_t kept = std::min<uint64_t>(generation_ - 1, changes_.size());
  changes_forgotten_ = generation_ - 1 - kept;
  for (uint64_t g = generation_ - kept; g < generation_; ++g) {
    larger[g & (larger.size() - 1)] = changes_[g & (changes_.size() - 1)];
  }
  changes_ = std::move(larger);
}

uint64_t ChangeLog::Enter(Row row, bool node_changed, uint64_t previous, size_t rows) {
  ++generation_;
  if (changes_.size() < kMinChangesKept || changes_.size() < rows) Grow(rows);
  if (previous != 0 && generation_ - previous < changes_.size()) {
    uint32_t& change = changes_[previous & (changes_.size() - 1)];
    if ((change & kNodeChanged) == 0) change |= kSuperseded;
  }
  changes_[generation_ & (changes_.size() - 1)] = row * kOneRow + (node_changed ? kNodeChanged : 0);
  if (!node_changed) return generation_;
  if (node_changes_.size() >= 2 * std::max(kMinChangesKept, rows)) {
    auto half = node_changes_.begin() + static_cast<ptrdiff_t>(node_changes_.size() / 2);
    node_changes_forgotten_ = std::prev(half)->first;
    node_changes_.erase(node_changes_.begin(), half);
  }
  node_changes_.emplace_back(generation_, row);
  return generation_;
}

}  // namespace berth::scheduler
