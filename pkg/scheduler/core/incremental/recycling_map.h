// A sorted map whose dropped entries are used again, so that a map that neither grows nor shrinks allocates nothing.
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

  // The entry of the key; a new one is a dropped entry, in the state it was dropped in, or else made().
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
  // For entries that are as good as new.
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
