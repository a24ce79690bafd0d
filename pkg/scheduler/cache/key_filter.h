// A small table that says of most numbers, without looking at a large map, that they are not among the map's keys.
#pragma once
#include <absl/numeric/bits.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pkg/util/contract.h"

namespace berth::scheduler {

// A Bloom filter whose bits for one key are in one word. It takes 2 to 8 bytes for each key, so that those of many maps
// stay in the processor's caches when the maps do not.
//
// Invariant: both bits of each key that was inserted and has not been erased from the map since are set.
class KeyFilter {
 public:
  // Returns false only if the key is not in the map. Returns true for about one in fifty of the other keys, or fewer.
  bool MayHave(uint32_t key) const {
    if (words_.empty()) return false;
    const uint64_t hash = Hash(key), bits = BitsOf(hash);
    return (words_[PlaceOf(hash)] & bits) == bits;
  }
  // Notes a key that was added to the map. Keys that were erased from the map are forgotten when the filter grows.
  // REQUIRES: `map` has the key.
  template <typename Map>
  void Insert(uint32_t key, const Map& map) {
    BERTH_REQUIRES(map.contains(key));
    if (inserted_ < words_.size() * kKeysOfWord) return Set(key);
    words_.assign(absl::bit_ceil(map.size() / (kKeysOfWord / 2) + 1), 0);
    shift_ = 64 - absl::bit_width(words_.size() - 1);
    inserted_ = 0;
    for (const auto& [k, value] : map) Set(k);
  }
  void Clear() {
    words_.clear();
    inserted_ = 0;
  }
  size_t bytes() const { return words_.capacity() * sizeof(uint64_t); }

 private:
  static constexpr size_t kKeysOfWord = 4;

  static uint64_t Hash(uint32_t key) { return (key + uint64_t{1}) * 0x9e3779b97f4a7c15ull; }
  static uint64_t BitsOf(uint64_t hash) { return uint64_t{1} << (hash >> 20 & 63) | uint64_t{1} << (hash >> 26 & 63); }
  size_t PlaceOf(uint64_t hash) const { return words_.size() == 1 ? 0 : hash >> shift_; }
  void Set(uint32_t key) {
    const uint64_t hash = Hash(key);
    words_[PlaceOf(hash)] |= BitsOf(hash);
    ++inserted_;
  }

  std::vector<uint64_t> words_;  // a power of two, or none
  int shift_ = 0;                // the hash's upper bits are the index of the word
  size_t inserted_ = 0;          // number of keys noted since the words were cleared
};

}  // namespace berth::scheduler
