// In most columns all values are equal, and such a column divides nothing. The others usually have few different
// values, so that the new sets are found in a small table.
#include "pkg/scheduler/core/incremental/row_partition.h"

#include <algorithm>

#include "pkg/util/contract.h"

namespace berth::scheduler {
namespace {

constexpr uint32_t kNoSet = ~uint32_t{0};

}  // namespace

void RowPartition::Reset(size_t count) {
  set_of_.assign(count, 0);
  first_.assign(count > 0 ? 1 : 0, 0);
}

// Finds the new set of each position by new_set_of(old set, value), a reference to kNoSet the first time.
template <typename F>
void RowPartition::DivideBy(std::span<const int64_t> values, F new_set_of) {
  first_.clear();
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t& set = new_set_of(set_of_[i], values[i]);
    if (set == kNoSet) {
      set = static_cast<uint32_t>(first_.size());
      first_.push_back(static_cast<uint32_t>(i));
    }
    set_of_[i] = set;
  }
}

// Looks for the new set of a position among those of its old set, which are few if there are many old sets. Returns
// false and changes nothing if they turn out to be many.
bool RowPartition::DivideByChains(std::span<const int64_t> values) {
  constexpr size_t kStepsOfPosition = 8;
  const size_t size = values.size();
  size_t steps = kStepsOfPosition * size;
  table_.assign(first_.size(), kNoSet);  // by old set: its first new set
  links_.clear();
  chain_sets_.resize(size);
  for (size_t i = 0; i < size; ++i) {
    uint32_t* link = &table_[set_of_[i]];
    while (*link != kNoSet && links_[*link].value != values[i]) {
      if (steps-- == 0) return false;
      link = &links_[*link].next;
    }
    if (*link == kNoSet) {
      *link = static_cast<uint32_t>(links_.size());
      chain_sets_[i] = *link;
      links_.push_back({values[i], kNoSet});
    } else {
      chain_sets_[i] = *link;
    }
  }
  first_.assign(links_.size(), kNoSet);
  for (size_t i = 0; i < size; ++i) {
    if (first_[chain_sets_[i]] == kNoSet) first_[chain_sets_[i]] = static_cast<uint32_t>(i);
  }
  set_of_.swap(chain_sets_);
  return true;
}

// Numbers the different values in number_of_, by value minus the least one, and returns how many there are.
uint32_t RowPartition::NumberValues(std::span<const int64_t> values, int64_t least, uint64_t range) {
  number_of_.assign(range + 1, kNoSet);
  uint32_t count = 0;
  for (const int64_t value : values) {
    uint32_t& number = number_of_[static_cast<uint64_t>(value) - static_cast<uint64_t>(least)];
    if (number == kNoSet) number = count++;
  }
  return count;
}

void RowPartition::Divide(std::span<const int64_t> values) {
  BERTH_REQUIRES(values.size() == set_of_.size());
  const size_t size = set_of_.size(), sets = first_.size();
  if (size == 0) return;
  int64_t least = values[0], most = values[0];
  for (int64_t value : values) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  if (least == most) return;
  // With a few places for each position, a table costs no more to clear than the positions cost to visit.
  const size_t places = 4 * size + 64;
  const uint64_t range = static_cast<uint64_t>(most) - static_cast<uint64_t>(least);
  if (range < places / sets) {
    table_.assign(sets * (range + 1), kNoSet);
    DivideBy(values, [&](uint32_t set, int64_t value) -> uint32_t& {
      return table_[set * (range + 1) + (static_cast<uint64_t>(value) - static_cast<uint64_t>(least))];
    });
    return;
  }
  if (range < places) {
    // Weighted sums take few of the values in their range.
    if (const size_t count = NumberValues(values, least, range); count <= places / sets) {
      table_.assign(sets * count, kNoSet);
      return DivideBy(values, [&](uint32_t set, int64_t value) -> uint32_t& {
        return table_[set * count + number_of_[static_cast<uint64_t>(value) - static_cast<uint64_t>(least)]];
      });
    }
  }
  if (DivideByChains(values)) return;
  map_.clear();
  DivideBy(values, [&](uint32_t set, int64_t value) -> uint32_t& {
    return map_.try_emplace({set, value}, kNoSet).first->second;
  });
}

}  // namespace berth::scheduler
