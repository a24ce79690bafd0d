// Stores of the objects other than nodes and pods that rules look up: services, controllers, volumes, claims, storage
// classes, disruption budgets and others.
//
// Thread-safety: that of the Cache, which owns them.
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

// Return the selector by which an object selects pods, or nothing when it selects none.
std::optional<api::Selector> PodSelectorOf(const api::Service& o);
std::optional<api::Selector> PodSelectorOf(const api::ReplicationController& o);
std::optional<api::Selector> PodSelectorOf(const api::ReplicaSet& o);
std::optional<api::Selector> PodSelectorOf(const api::StatefulSet& o);
std::optional<api::Selector> PodSelectorOf(const api::PodDisruptionBudget& o);

// The objects of one kind by namespace and name. Within a namespace they are in byte order of their names.
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
  // Returns the objects of a namespace by name; an empty map when there are none.
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
  // Changes whenever an object is added, replaced or removed.
  uint64_t version() const { return version_; }
  // Calls f(namespace, name) for each object that was added, replaced or removed after the given version, oldest first.
  // An object may come more than once. Returns false, without any call, when the log does not reach that far back.
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
  std::deque<std::pair<Symbol, std::string>> changes_;  // the last changes, one for each version, the newest at the end
};

// The objects of a kind that selects pods by their labels. Finds the objects that select a pod without looking at all
// of them. A selector that cannot be used selects no pod.
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
  // Changes when an object of the namespace is added or removed or its selector changes, and not otherwise. A value may
  // depend on this version instead of version() so that status updates do not make it stale.
  uint64_t SelectorsVersion(Symbol ns) const {
    auto in = by_ns_.find(ns);
    return in == by_ns_.end() ? 0 : in->second.version;
  }
  // Returns the objects whose selector matches the labels, in byte order of their names.
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
  // The objects of a namespace by number, for the index. Invariant: the index has the number of each object that has a
  // selector.
  struct Namespace {
    absl::flat_hash_map<std::string, uint32_t> numbers;  // by name
    std::vector<Entry> entries;                          // by number
    std::vector<uint32_t> free;                          // numbers that no object has
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
  ObjectStore<api::Namespace> namespaces;           // stored under the empty namespace
  SelectorStore<api::PodDisruptionBudget> budgets;  // by namespace and name (bug B-04, fixed)
  // Read by release 1.29 only.
  ObjectStore<api::CsiNode> csi_nodes;  // stored under the empty namespace, by the node's name
  ObjectStore<api::CsiDriver> csi_drivers;
  ObjectStore<api::CsiStorageCapacity> csi_capacities;
  ObjectStore<api::VolumeAttachment> attachments;
  // Read by release 1.36 only.
  ObjectStore<api::ResourceClaim> device_claims;
  ObjectStore<api::ResourceSlice> device_slices;  // stored under the empty namespace
  ObjectStore<api::DeviceClass> device_classes;   // stored under the empty namespace

  // Returns the store of a kind, one of api::StoredKinds.
  template <typename T>
  auto& Of() {
#define BERTH_STORE(type, kind, versions, plural, store, ...) \
  if constexpr (std::is_same_v<T, api::type>) return store;
    BERTH_STORED_KINDS(BERTH_STORE)
#undef BERTH_STORE
  }

  // Returns the selectors of the services, replication controllers, ReplicaSets and StatefulSets that select the pod,
  // in this order of kinds (1.10 getSelectors). An object whose selector cannot be used is skipped; the others count.
  std::vector<api::Selector> SelectorsOf(const api::PodTemplate& pod) const;
  // Returns the services that select the pod, in byte order of their names.
  std::vector<std::shared_ptr<const api::Service>> ServicesOf(const api::PodTemplate& pod) const;
  // Changes whenever the results of SelectorsOf or ServicesOf may change for pods of the namespace.
  uint64_t SelectorsVersion(Symbol ns) const;
};

}  // namespace berth::scheduler
