// Finds numbers by keys that are stored elsewhere: what the key of a number is, only the user of the table knows. So
// keys are neither copied nor allocated, however many numbers there are.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::scheduler {

class KeyTable {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // Returns the hash of a key that begins with what has the first hash (0 for nothing) and goes on with the value.
  // Values may be small numbers, whose multiples by an odd number differ in the upper bits.
  static uint64_t Hash(uint64_t before, uint64_t value) {
    return (std::rotl(before, 23) ^ value) * 0x9e3779b97f4a7c15ull;
  }

  // Returns the number with this hash for which same(number) says that it has the key, or kNone.
  template <typename Same>
  uint32_t Find(uint64_t hash, Same same) const {
    if (first_.empty()) return kNone;
    for (uint32_t number = first_[hash >> shift_]; number != kNone; number = links_[number].next) {
      if (links_[number].hash == hash && same(number)) return number;
    }
    return kNone;
  }
  // Gives the number size() to a new key with this hash, which Find has not found.
  void Add(uint64_t hash) {
    links_.push_back({hash, kNone});
    if (links_.size() > first_.size()) return Grow();
    Link(static_cast<uint32_t>(links_.size()) - 1);
  }
  // Gives the number size() to no key.
  void AddWithoutKey() { links_.push_back({0, kNone, false}); }
  // Makes room for as many numbers altogether.
  void Reserve(size_t numbers) { links_.reserve(std::max(numbers, std::bit_ceil(numbers))); }

  size_t size() const { return links_.size(); }
  bool empty() const { return links_.empty(); }
  size_t bytes() const { return links_.capacity() * sizeof(OfNumber) + first_.capacity() * sizeof(uint32_t); }

 private:
  static constexpr size_t kLeastLists = 64;
  struct OfNumber {
    uint64_t hash;
    uint32_t next;  // in the list of the hash
    bool has_key = true;
  };

  void Link(uint32_t number) {
    uint32_t& first = first_[links_[number].hash >> shift_];
    links_[number].next = first;
    first = number;
  }
  // Makes as many lists as there is room for numbers, at least twice as many as before, and links all numbers anew.
  void Grow() {
    const size_t lists = std::max({kLeastLists, 2 * first_.size(), std::bit_floor(links_.capacity())});
    shift_ = 64 - std::countr_zero(lists);
    first_.assign(lists, kNone);
    for (uint32_t number = 0; number < links_.size(); ++number) {
      if (links_[number].has_key) Link(number);
    }
  }

  std::vector<OfNumber> links_;
  // The numbers whose hashes have the same upper bits are a list: first_[bits], then OfNumber::next up to kNone. The
  // size is a power of two, or 0.
  std::vector<uint32_t> first_;
  int shift_ = 63;  // a hash's upper bits are what is left when it is shifted by this
};

}  // namespace berth::scheduler
