#include "pkg/scheduler/core/incremental/key_partitions.h"

#include <algorithm>
#include <utility>

#include "pkg/scheduler/core/incremental/row_partition.h"
#include "pkg/util/contract.h"
#include "pkg/util/release_memory.h"

namespace berth::scheduler {
namespace {

// How many lists of keys are remembered. Templates name few different ones.
constexpr size_t kMostPartitions = 16;
// If more than one in this many rows has changed, dividing all of them anew is as quick.
constexpr size_t kRowsOfChange = 16;
// A division is made anew when it has this many sets more than twice as many as at first, because many may be empty.
constexpr size_t kMoreSets = 64;

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
  std::vector<Row> changed;
  const bool logged = !p.set_of.empty() && cache_.NodeChangesSince(p.seen, [&](Row row) { changed.push_back(row); });
  for (Row row = static_cast<Row>(p.set_of.size()); row < cache_.row_count(); ++row) changed.push_back(row);
  if (!logged || changed.size() * kRowsOfChange > p.set_of.size() || p.sets > 2 * p.sets_at_first + kMoreSets) {
    Divide(&p);
  } else if (!changed.empty()) {
    Move(changed, &p);
  }
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
  p->sets = p->sets_at_first = sets.set_count();
  util::ReleaseMemory(&p->domains);
  p->table = {};
}

// Enters the sets into the table by one of their rows that has not changed. A set of which all rows have changed is
// empty, and stays so.
void KeyPartitions::EnterSets(const std::vector<Row>& changed, Partition* p) const {
  const size_t width = p->keys.size();
  std::vector<Row> row_of(p->sets, kNoRow);
  std::vector<uint8_t> moves(cache_.row_count(), 0);
  for (const Row row : changed) moves[row] = 1;
  for (Row row = 0; row < p->set_of.size(); ++row) {
    if (moves[row] == 0) row_of[p->set_of[row]] = row;
  }
  p->domains.assign(p->sets * width, 0);
  p->table.Reserve(p->sets);
  for (size_t set = 0; set < p->sets; ++set) {
    if (row_of[set] == kNoRow) {
      p->table.AddWithoutKey();
      continue;
    }
    uint64_t hash = 0;
    for (size_t k = 0; k < width; ++k) {
      const uint32_t domain = p->keys[k].DomainOf(row_of[set]);
      p->domains[set * width + k] = domain;
      hash = KeyTable::Hash(hash, domain);
    }
    p->table.Add(hash);
  }
}

// Finds the sets of the rows anew. The number of a domain may stand for another value of the label by now, but then all
// rows that had the value before have changed, and none of them is left in a set that was found by it.
void KeyPartitions::Move(const std::vector<Row>& changed, Partition* p) const {
  if (p->table.empty()) EnterSets(changed, p);
  const size_t width = p->keys.size();
  std::vector<uint32_t> domains(width);
  p->set_of.resize(cache_.row_count());
  for (const Row row : changed) {
    uint64_t hash = 0;
    for (size_t k = 0; k < width; ++k) {
      domains[k] = p->keys[k].DomainOf(row);
      hash = KeyTable::Hash(hash, domains[k]);
    }
    uint32_t set = p->table.Find(hash, [&](uint32_t known) {
      return std::equal(domains.begin(), domains.end(), p->domains.begin() + static_cast<ptrdiff_t>(known * width));
    });
    if (set == KeyTable::kNone) {
      set = static_cast<uint32_t>(p->sets++);
      p->domains.insert(p->domains.end(), domains.begin(), domains.end());
      p->table.Add(hash);
    }
    p->set_of[row] = set;
  }
}

}  // namespace berth::scheduler
