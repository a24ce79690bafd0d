// A multiset of keys of which only the numbers matter.
#pragma once
#include <cstdint>

#include <absl/container/flat_hash_map.h>

#include "pkg/util/contract.h"

namespace berth::scheduler {

template <typename Key>
class KeyCounts {
 public:
  // Adds (`sign` +1) or takes away (-1) the key once. REQUIRES: a key that is taken away is there.
  void Count(const Key& key, int sign) {
    const auto it = counts_.try_emplace(key, 0).first;
    BERTH_REQUIRES(it->second + sign >= 0);
    it->second += sign;
    if (it->second == 0) counts_.erase(it);
  }
  template <typename K>
  bool Has(const K& key) const {
    return counts_.contains(key);
  }
  bool empty() const { return counts_.empty(); }

 private:
  absl::flat_hash_map<Key, int32_t> counts_;  // never 0
};

}  // namespace berth::scheduler
