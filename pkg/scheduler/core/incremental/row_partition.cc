// In most columns all values are equal, and such a column divides nothing. The others usually have few different values
// that lie close together, so that the new sets are found in a small table.
#include "pkg/scheduler/core/incremental/row_partition.h"

#include <algorithm>

namespace berth::scheduler {

void RowPartition::Reset(size_t count) {
  set_of_.assign(count, 0);
  first_.assign(count > 0 ? 1 : 0, 0);
}

void RowPartition::Divide(std::span<const int64_t> values) {
  const size_t size = set_of_.size(), sets = first_.size();
  if (size == 0) return;
  int64_t least = values[0], most = values[0];
  for (int64_t value : values) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  if (least == most) return;
  constexpr uint32_t kNone = ~uint32_t{0};
  first_.clear();
  auto divide = [&](auto&& new_set_of) {
    for (size_t i = 0; i < size; ++i) {
      uint32_t& set = new_set_of(set_of_[i], values[i]);
      if (set == kNone) {
        set = static_cast<uint32_t>(first_.size());
        first_.push_back(static_cast<uint32_t>(i));
      }
      set_of_[i] = set;
    }
  };
  // With a few places for each position, the table costs no more to clear than the positions cost to visit.
  const uint64_t range = static_cast<uint64_t>(most) - static_cast<uint64_t>(least);
  if (range < (4 * size + 64) / sets) {
    table_.assign(sets * (range + 1), kNone);
    divide([&](uint32_t set, int64_t value) -> uint32_t& {
      return table_[set * (range + 1) + (static_cast<uint64_t>(value) - static_cast<uint64_t>(least))];
    });
  } else {
    map_.clear();
    divide([&](uint32_t set, int64_t value) -> uint32_t& {
      return map_.try_emplace({set, value}, kNone).first->second;
    });
  }
}

}  // namespace berth::scheduler
