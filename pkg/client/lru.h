// A map with a limited number of entries that drops the least recently used one when it is full. Not thread-safe.
#pragma once
#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>

#include <cstddef>
#include <iterator>
#include <list>
#include <string>
#include <string_view>

namespace berth::client {

template <typename V>
class Lru {
 public:
  explicit Lru(size_t limit) : limit_(limit) {}
  Lru(const Lru&) = delete;
  Lru& operator=(const Lru&) = delete;

  // Returns the value of `key`, which is default-constructed if it is new, and marks it as the most recently used. The
  // reference is valid until the next call.
  V& Use(std::string_view key) {
    const Probe probe{key, absl::HashOf(key)};
    if (auto found = index_.find(probe); found != index_.end()) {
      order_.splice(order_.begin(), order_, *found);
      return order_.front().value;
    }
    if (order_.size() < limit_) {
      order_.emplace_front();
    } else {
      // The memory of the dropped entry is used for the new one.
      index_.erase(std::prev(order_.end()));
      order_.splice(order_.begin(), order_, std::prev(order_.end()));
      order_.front().value = V();
    }
    order_.front().key = key;
    order_.front().hash = probe.hash;
    index_.insert(order_.begin());
    return order_.front().value;
  }
  size_t size() const { return order_.size(); }

 private:
  struct Entry {
    std::string key;
    size_t hash = 0;  // of `key`, so that neither a lookup nor growth of the index hashes it again
    V value;
  };
  using Place = typename std::list<Entry>::iterator;
  struct Probe {
    std::string_view key;
    size_t hash;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(Place p) const { return p->hash; }
    size_t operator()(const Probe& p) const { return p.hash; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(Place a, Place b) const { return a == b; }
    bool operator()(Place a, const Probe& b) const { return a->hash == b.hash && a->key == b.key; }
  };
  size_t limit_;
  std::list<Entry> order_;  // the most recently used entry first
  absl::flat_hash_set<Place, Hash, Equal> index_;
};

}  // namespace berth::client
