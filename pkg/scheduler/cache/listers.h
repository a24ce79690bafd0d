// The objects beside nodes and pods that rules look up: services, controllers, volumes, claims, classes, budgets.
// Plain stores; threading as the Cache that owns them.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "pkg/api/kinds.h"
#include "pkg/scheduler/cache/label_pair_index.h"
#include "pkg/util/symbol.h"

namespace berth::scheduler {

using util::Symbol;

// The selector by which an object picks pods; nothing where it picks none. One overload for each kind that has one.
std::optional<api::Selector> PodSelectorOf(const api::Service& o);
std::optional<api::Selector> PodSelectorOf(const api::ReplicationController& o);
std::optional<api::Selector> PodSelectorOf(const api::ReplicaSet& o);
std::optional<api::Selector> PodSelectorOf(const api::StatefulSet& o);
std::optional<api::Selector> PodSelectorOf(const api::PodDisruptionBudget& o);

// Objects of one kind by namespace and name; iteration is in byte order of namespace, then name.
template <typename T>
class ObjectStore {
 public:
  using Ptr = std::shared_ptr<const T>;
  void Set(Ptr o) {
    Note(o->meta.ns, o->meta.name);
    by_ns_[o->meta.ns][o->meta.name] = std::move(o);
  }
  void Remove(Symbol ns, const std::string& name) {
    Note(ns, name);
    auto it = by_ns_.find(ns);
    if (it == by_ns_.end()) return;
    it->second.erase(name);
    if (it->second.empty()) by_ns_.erase(it);
  }
  Ptr Get(Symbol ns, const std::string& name) const {
    auto it = by_ns_.find(ns);
    if (it == by_ns_.end()) return nullptr;
    auto o = it->second.find(name);
    return o == it->second.end() ? nullptr : o->second;
  }
  // Objects of a namespace by name; an empty map when there are none.
  const std::map<std::string, Ptr>& In(Symbol ns) const {
    static const std::map<std::string, Ptr> kNone;
    auto it = by_ns_.find(ns);
    return it == by_ns_.end() ? kNone : it->second;
  }
  template <typename F>
  void ForEach(F f) const {
    for (const auto& [ns, objects] : by_ns_) {
      for (const auto& [name, o] : objects) f(o);
    }
  }
  bool empty() const { return by_ns_.empty(); }
  // Changes whenever an object does.
  uint64_t version() const { return version_; }
  // Calls f(namespace, name) for each object that came, changed or went after the given version, oldest first; names
  // may repeat. Returns false, without a call, when that is too long ago to be remembered.
  template <typename F>
  bool ChangesSince(uint64_t version, F f) const {
    if (version_ - version > changes_.size()) return false;
    for (auto it = changes_.end() - static_cast<ptrdiff_t>(version_ - version); it != changes_.end(); ++it) {
      f(it->first, it->second);
    }
    return true;
  }

 private:
  void Note(Symbol ns, const std::string& name) {
    constexpr size_t kRemembered = 4096;
    ++version_;
    changes_.emplace_back(ns, name);
    if (changes_.size() > kRemembered) changes_.pop_front();
  }
  absl::flat_hash_map<Symbol, std::map<std::string, Ptr>> by_ns_;
  uint64_t version_ = 0;
  std::deque<std::pair<Symbol, std::string>> changes_;  // the last ones
};

// Objects of a kind that picks pods by a selector, found by the labels of a pod. The selector of an object that cannot
// be used picks no pod.
template <typename T>
class SelectorStore {
 public:
  using Ptr = std::shared_ptr<const T>;
  void Set(Ptr o) {
    Namespace& in = by_ns_[o->meta.ns];
    std::optional<api::Selector> selector = PodSelectorOf(*o);
    auto [it, fresh] = in.numbers.try_emplace(o->meta.name, static_cast<uint32_t>(in.entries.size()));
    if (!fresh) {
      Entry& known = in.entries[it->second];
      known.object = o;
      if (known.selector == selector) return objects_.Set(std::move(o));
      if (known.selector) in.index.Remove(*known.selector, it->second);
    } else if (!in.free.empty()) {
      it->second = in.free.back();
      in.free.pop_back();
      in.entries[it->second].object = o;
    } else {
      in.entries.push_back({o, {}});
    }
    ++in.version;
    in.entries[it->second].selector = selector;
    if (selector) in.index.Add(*selector, it->second);
    objects_.Set(std::move(o));
  }
  void Remove(Symbol ns, const std::string& name) {
    objects_.Remove(ns, name);
    auto in = by_ns_.find(ns);
    if (in == by_ns_.end()) return;
    auto it = in->second.numbers.find(name);
    if (it == in->second.numbers.end()) return;
    ++in->second.version;
    Entry& entry = in->second.entries[it->second];
    if (entry.selector) in->second.index.Remove(*entry.selector, it->second);
    entry = {};
    in->second.free.push_back(it->second);
    in->second.numbers.erase(it);
  }
  Ptr Get(Symbol ns, const std::string& name) const { return objects_.Get(ns, name); }
  const std::map<std::string, Ptr>& In(Symbol ns) const { return objects_.In(ns); }
  template <typename F>
  void ForEach(F f) const {
    objects_.ForEach(f);
  }
  bool empty() const { return objects_.empty(); }
  uint64_t version() const { return objects_.version(); }
  // Changes when an object of the namespace comes, goes or changes its selector; not when its status changes.
  uint64_t SelectorsVersion(Symbol ns) const {
    auto in = by_ns_.find(ns);
    return in == by_ns_.end() ? 0 : in->second.version;
  }
  // Returns the objects whose selector matches the labels, by name.
  std::vector<Ptr> Matching(Symbol ns, const api::Labels& labels) const {
    std::vector<Ptr> out;
    auto in = by_ns_.find(ns);
    if (in == by_ns_.end()) return out;
    std::vector<uint32_t> candidates;
    in->second.index.Candidates(labels, &candidates);
    for (uint32_t number : candidates) {
      const Entry& e = in->second.entries[number];
      if (e.selector->Matches(labels)) out.push_back(e.object);
    }
    std::sort(out.begin(), out.end(), [](const Ptr& a, const Ptr& b) { return a->meta.name < b->meta.name; });
    return out;
  }

 private:
  struct Entry {
    Ptr object;
    std::optional<api::Selector> selector;
  };
  struct Namespace {
    absl::flat_hash_map<std::string, uint32_t> numbers;  // by name
    std::vector<Entry> entries;                          // by number
    std::vector<uint32_t> free;
    LabelPairIndex index;
    uint64_t version = 0;
  };
  ObjectStore<T> objects_;
  absl::flat_hash_map<Symbol, Namespace> by_ns_;
};

struct Listers {
  SelectorStore<api::Service> services;
  SelectorStore<api::ReplicationController> replication_controllers;
  SelectorStore<api::ReplicaSet> replica_sets;
  SelectorStore<api::StatefulSet> stateful_sets;
  ObjectStore<api::PersistentVolume> volumes;
  ObjectStore<api::PersistentVolumeClaim> claims;
  ObjectStore<api::StorageClass> storage_classes;
  ObjectStore<api::Namespace> namespaces;           // by name, in the empty namespace
  SelectorStore<api::PodDisruptionBudget> budgets;  // by namespace and name (bug B-04, fixed)
  // Storage as release 1.29 sees it.
  ObjectStore<api::CsiNode> csi_nodes;  // by the node's name, in the empty namespace
  ObjectStore<api::CsiDriver> csi_drivers;
  ObjectStore<api::CsiStorageCapacity> csi_capacities;
  ObjectStore<api::VolumeAttachment> attachments;

  // Returns the store of a kind. REQUIRES: T is one of api::StoredKinds.
  template <typename T>
  auto& Of() {
#define BERTH_STORE(type, kind, versions, plural, store, ...) \
  if constexpr (std::is_same_v<T, api::type>) return store;
    BERTH_STORED_KINDS(BERTH_STORE)
#undef BERTH_STORE
  }

  // Selectors of the services, RCs, ReplicaSets and StatefulSets that a pod belongs to by its labels, in this order
  // (1.10 getSelectors). An unusable ReplicaSet or StatefulSet is skipped alone.
  std::vector<api::Selector> SelectorsOf(const api::PodTemplate& pod) const;
  // Services whose selector matches the pod's labels, by name.
  std::vector<std::shared_ptr<const api::Service>> ServicesOf(const api::PodTemplate& pod) const;
  // Changes when SelectorsOf or ServicesOf may return something else for pods of the namespace.
  uint64_t SelectorsVersion(Symbol ns) const;
};

}  // namespace berth::scheduler
