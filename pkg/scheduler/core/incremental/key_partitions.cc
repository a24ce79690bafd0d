#include "pkg/scheduler/core/incremental/key_partitions.h"

#include <algorithm>

#include "pkg/scheduler/core/incremental/row_partition.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {
namespace {

// How many lists of keys are remembered. Templates name few different ones.
constexpr size_t kMostPartitions = 16;

}  // namespace

std::span<const uint32_t> KeyPartitions::Of(const std::vector<GroupKey>& keys) {
  BERTH_REQUIRES(!keys.empty());
  auto known = std::find_if(partitions_.begin(), partitions_.end(), [&](const Partition& p) { return p.keys == keys; });
  if (known == partitions_.end()) {
    if (partitions_.size() < kMostPartitions) {
      partitions_.emplace_back();
    } else {
      partitions_.back() = {};
    }
    known = std::prev(partitions_.end());
    known->keys = keys;
  }
  partitions_.splice(partitions_.begin(), partitions_, known);
  Partition& p = partitions_.front();
  bool same = p.set_of.size() == cache_.row_count();
  same = same && cache_.NodeChangesSince(p.seen, [&](Row) { same = false; }) && same;
  if (!same) Divide(&p);
  p.seen = cache_.generation();
  return p.set_of;
}

void KeyPartitions::Divide(Partition* p) const {
  const Row rows = cache_.row_count();
  RowPartition sets;
  sets.Reset(rows);
  std::vector<int64_t> domains(rows);
  for (const GroupKey& key : p->keys) {
    // kNoDomain, the largest number, becomes 0, so that the numbers of a column lie close together.
    for (Row row = 0; row < rows; ++row) domains[row] = key.DomainOf(row) + 1u;
    sets.Divide(domains);
  }
  p->set_of.resize(rows);
  for (Row row = 0; row < rows; ++row) p->set_of[row] = sets.set(row);
}

}  // namespace berth::scheduler
