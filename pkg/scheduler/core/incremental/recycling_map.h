// A sorted map that uses the memory of dropped entries again. A map that loses and gets entries at the same rate
// allocates nothing.
#pragma once
#include <map>
#include <utility>
#include <vector>

namespace berth::scheduler {

template <typename K, typename V>
class RecyclingMap {
  using Map = std::map<K, V>;

 public:
  using iterator = typename Map::iterator;

  // Returns the value of the key. If there is none, the value of a dropped entry is used as it is, or made() when there
  // is no dropped entry.
  template <typename Make>
  V& Get(const K& key, Make made) {
    auto it = map_.lower_bound(key);
    if (it != map_.end() && it->first == key) return it->second;
    if (spare_.empty()) return map_.emplace_hint(it, key, made())->second;
    auto node = std::move(spare_.back());
    spare_.pop_back();
    node.key() = key;
    return map_.insert(it, std::move(node))->second;
  }
  iterator Find(const K& key) { return map_.find(key); }
  // Drops an entry and keeps it for Get. REQUIRES: its value is in the state of one that made() returns.
  void Drop(iterator it) { spare_.push_back(map_.extract(it)); }
  void Clear() {
    map_.clear();
    spare_.clear();
  }
  iterator begin() { return map_.begin(); }
  iterator end() { return map_.end(); }
  typename Map::const_iterator begin() const { return map_.begin(); }
  typename Map::const_iterator end() const { return map_.end(); }

 private:
  Map map_;
  std::vector<typename Map::node_type> spare_;
};

}  // namespace berth::scheduler
