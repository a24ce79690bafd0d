// Divides a list of rows into sets of rows that are alike, by one column of values after another.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace berth::scheduler {

// Rows are identified by their positions in the list. Sets have the numbers below set_count() in the order of their
// first positions.
class RowPartition {
 public:
  // Begins with one set of `count` positions, or with none if `count` is 0.
  void Reset(size_t count);
  // Divides each set so that positions remain in one set only if their values are equal. REQUIRES: values.size() is the
  // number of positions.
  void Divide(std::span<const int64_t> values);

  size_t set_count() const { return first_.size(); }
  uint32_t set(size_t position) const { return set_of_[position]; }
  // Returns the first position in the set.
  uint32_t first(size_t set) const { return first_[set]; }

 private:
  std::vector<uint32_t> set_of_;  // by position
  std::vector<uint32_t> first_;   // by set
  template <typename F>
  void DivideBy(std::span<const int64_t> values, F new_set_of);
  bool DivideByChains(std::span<const int64_t> values);
  uint32_t NumberValues(std::span<const int64_t> values, int64_t least, uint64_t range);

  // Used by Divide: the new sets by old set and value, in table_ if few such pairs are possible, otherwise in chains of
  // the new sets of each old set, and in map_ where chains are long.
  std::vector<uint32_t> table_;
  std::vector<uint32_t> number_of_;  // by value minus the least one
  struct Link {
    int64_t value;
    uint32_t next;  // a new set of the same old one
  };
  std::vector<Link> links_;           // by new set
  std::vector<uint32_t> chain_sets_;  // the sets while DivideByChains tries
  absl::flat_hash_map<std::pair<uint32_t, int64_t>, uint32_t> map_;
};

}  // namespace berth::scheduler
