// The entries of a queue by the namespaces and names of their pods. Finding one makes no text, and entries that were
// removed are used again, because a pod that waits passes through the queue for every attempt.
#pragma once
#include <absl/container/flat_hash_set.h>

#include <deque>
#include <utility>
#include <vector>

#include "pkg/api/types.h"

namespace berth::scheduler {

// An Entry has a member `pod`, which may be replaced by another object of the same name only. Pointers to entries stay
// valid until they are removed. Thread-safety: as a standard container.
template <typename Entry>
class PodsByName {
 public:
  PodsByName() = default;
  PodsByName(const PodsByName&) = delete;

  // Returns the entry of the pod with this name, or null.
  Entry* Find(const api::Pod& pod) const {
    const auto it = by_name_.find(pod.meta);
    return it == by_name_.end() ? nullptr : *it;
  }
  // Returns the entry of the pod with this name, and whether it is new. A new one has the pod and nothing else.
  std::pair<Entry*, bool> Add(const api::PodPtr& pod) {
    if (Entry* known = Find(*pod)) return {known, false};
    Entry* entry = nullptr;
    if (free_.empty()) {
      entry = &entries_.emplace_back();
    } else {
      entry = free_.back();
      free_.pop_back();
    }
    entry->pod = pod;
    by_name_.insert(entry);
    return {entry, true};
  }
  void Remove(Entry* entry) {
    by_name_.erase(entry);
    *entry = {};
    free_.push_back(entry);
  }

 private:
  static const api::ObjectMeta& NameOf(const Entry* entry) { return entry->pod->meta; }
  static const api::ObjectMeta& NameOf(const api::ObjectMeta& meta) { return meta; }
  struct Hash {
    using is_transparent = void;
    template <typename T>
    size_t operator()(const T& t) const {
      const api::ObjectMeta& name = NameOf(t);
      return absl::HashOf(util::Symbol(name.ns), name.name);
    }
  };
  struct Same {
    using is_transparent = void;
    template <typename T, typename U>
    bool operator()(const T& a, const U& b) const {
      const api::ObjectMeta &x = NameOf(a), &y = NameOf(b);
      return x.name == y.name && x.ns == y.ns;
    }
  };
  std::deque<Entry> entries_;
  std::vector<Entry*> free_;
  absl::flat_hash_set<Entry*, Hash, Same> by_name_;
};

}  // namespace berth::scheduler
