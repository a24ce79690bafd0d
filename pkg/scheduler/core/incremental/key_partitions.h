// Nodes divided by the labels that group them. The division depends on the labels alone, so all indexes with the same
// keys (static_node_index.h) begin with one that was made once.
//
// Thread-safety: that of the Cache.
#pragma once
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/core/incremental/key_table.h"

namespace berth::scheduler {

// A label by which nodes are grouped.
struct GroupKey {
  const LabelColumn* column;
  // Whether only the presence of the label counts: a node's domain is then 0, or LabelColumn::kNoDomain without it.
  bool presence_only;
  // Returns the domain of the row by this key.
  uint32_t DomainOf(Row row) const {
    const uint32_t domain = column->Domain(row);
    return presence_only && domain != LabelColumn::kNoDomain ? 0 : domain;
  }
  friend bool operator==(const GroupKey&, const GroupKey&) = default;
};

class KeyPartitions {
 public:
  // `cache` must outlive the object.
  explicit KeyPartitions(const Cache* cache) : cache_(*cache) {}

  // Returns a number for each row of the cache: listed rows have the same one if and only if they are in the same
  // domains of all keys. Numbers lie close together. Valid until the next call. REQUIRES: `keys` is not empty.
  std::span<const uint32_t> Of(const std::vector<GroupKey>& keys);
  // Returns how many different numbers the last call of Of returned, or a little more.
  size_t last_sets() const { return partitions_.empty() ? 0 : partitions_.front().sets; }

 private:
  struct Partition {
    std::vector<GroupKey> keys;
    std::vector<uint32_t> set_of;        // by row
    uint64_t seen = 0;                   // the cache's generation that it is up to date with
    size_t sets = 0, sets_at_first = 0;  // how many numbers there are, and were when all rows were divided last
    // The domains of the keys by number, and the numbers by them. Filled when the first row moves.
    std::vector<uint32_t> domains;
    KeyTable table;
  };
  void Divide(Partition* partition) const;
  void EnterSets(const std::vector<Row>& changed, Partition* partition) const;
  void Move(const std::vector<Row>& changed, Partition* partition) const;

  const Cache& cache_;
  std::list<Partition> partitions_;  // the last used first
};

}  // namespace berth::scheduler
