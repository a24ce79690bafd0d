// For each group a sorted map, where the maps of all groups use the memory of dropped entries again. Entries that are
// dropped and added at the same rate allocate nothing. A lookup costs what it costs in the map of one group.
#pragma once
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "pkg/util/contract.h"

namespace berth::scheduler {

template <typename V>
class GroupedMap {
 public:
  using Map = std::map<int32_t, V>;

  // Returns the value of the key. If there is none, the value of a dropped entry is used as it is, or made() when there
  // is no dropped entry. REQUIRES: group >= 0.
  template <typename Make>
  V& Get(int32_t group, int32_t key, Make made) {
    BERTH_REQUIRES(group >= 0);
    if (groups_.size() <= static_cast<size_t>(group)) groups_.resize(static_cast<size_t>(group) + 1);
    Map& map = groups_[static_cast<size_t>(group)];
    auto it = map.lower_bound(key);
    if (it != map.end() && it->first == key) return it->second;
    if (spare_.empty()) return map.emplace_hint(it, key, made())->second;
    auto node = std::move(spare_.back());
    spare_.pop_back();
    node.key() = key;
    return map.insert(it, std::move(node))->second;
  }
  // Return the value of the key; null when there is none. Valid until it is dropped.
  V* Find(int32_t group, int32_t key) { return const_cast<V*>(std::as_const(*this).Find(group, key)); }
  const V* Find(int32_t group, int32_t key) const {
    if (groups_.size() <= static_cast<size_t>(group)) return nullptr;
    const Map& map = groups_[static_cast<size_t>(group)];
    auto it = map.find(key);
    return it == map.end() ? nullptr : &it->second;
  }
  // Drops an entry and keeps it for Get. REQUIRES: the entry exists, and its value is in the state of one that made()
  // returns.
  void Drop(int32_t group, int32_t key) {
    BERTH_REQUIRES(Find(group, key) != nullptr);
    spare_.push_back(groups_[static_cast<size_t>(group)].extract(key));
  }
  void Clear() {
    for (Map& map : groups_) map.clear();
    spare_.clear();
  }
  // Returns the entries of a group in ascending order of their keys.
  const Map& Of(int32_t group) const {
    static const Map none;
    return static_cast<size_t>(group) < groups_.size() ? groups_[static_cast<size_t>(group)] : none;
  }
  // Calls f(value) for all entries.
  template <typename F>
  void ForEach(F f) const {
    for (const Map& map : groups_) {
      for (const auto& [key, value] : map) f(value);
    }
  }

 private:
  std::vector<Map> groups_;
  std::vector<typename Map::node_type> spare_;
};

}  // namespace berth::scheduler
