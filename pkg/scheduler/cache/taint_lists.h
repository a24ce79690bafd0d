// The lists of taints that nodes have, each distinct one once, so that what a pod makes of a list is found once for all
// nodes with it.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <vector>

#include "pkg/api/types.h"

namespace berth::scheduler {

// Each list has a number. Number 0 is the empty list, whose uses are not counted. The number of any other list becomes
// free when it has been released as often as it was used, and is then given to another list.
class TaintLists {
 public:
  // Returns the number of the list and counts a use.
  uint32_t Use(const std::vector<api::Taint>& taints);
  // Subtracts a use.
  void Release(uint32_t number);
  const std::vector<api::Taint>& operator[](uint32_t number) const { return lists_[number].taints; }
  // Returns a number above those of all lists.
  uint32_t limit() const { return static_cast<uint32_t>(lists_.size()); }
  // Changes when a number is given to a list.
  uint64_t version() const { return version_; }

 private:
  struct List {
    std::vector<api::Taint> taints;
    uint64_t uses = 0;
  };
  static size_t HashOf(const std::vector<api::Taint>& taints);

  std::vector<List> lists_{1};
  std::vector<uint32_t> free_;
  absl::flat_hash_map<size_t, std::vector<uint32_t>> by_hash_;
  uint64_t version_ = 0;
};

}  // namespace berth::scheduler
