// A map with a limited number of entries that drops the least recently used one when it is full. Not thread-safe.
#pragma once
#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace berth::client {

template <typename V>
class Lru {
 public:
  explicit Lru(size_t limit) : limit_(limit) {}
  // Returns the value of `key`, which is default-constructed if it is new, and marks it as the most recently used. The
  // reference is valid until the next call.
  V& Use(const std::string& key) {
    auto found = index_.find(key);
    if (found != index_.end()) {
      order_.splice(order_.begin(), order_, found->second);
      return found->second->second;
    }
    if (order_.size() >= limit_) {
      index_.erase(order_.back().first);
      order_.pop_back();
    }
    order_.emplace_front(key, V());
    index_.emplace(order_.front().first, order_.begin());
    return order_.front().second;
  }
  size_t size() const { return order_.size(); }

 private:
  using Order = std::list<std::pair<std::string, V>>;
  size_t limit_;
  Order order_;
  std::unordered_map<std::string_view, typename Order::iterator> index_;  // keys are views into order_
};

}  // namespace berth::client
