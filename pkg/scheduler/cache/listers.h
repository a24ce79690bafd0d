// The objects beside nodes and pods that rules look up: services, controllers, volumes, claims, classes, budgets.
// Plain stores; threading as the Cache that owns them.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/util/symbol.h"

namespace berth::scheduler {

using util::Symbol;

// Objects of one kind by namespace and name; iteration is in byte order of namespace, then name.
template <typename T>
class ObjectStore {
 public:
  using Ptr = std::shared_ptr<const T>;
  void Set(Ptr o) {
    ++version_;
    by_ns_[o->meta.ns][o->meta.name] = std::move(o);
  }
  void Remove(Symbol ns, const std::string& name) {
    ++version_;
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

 private:
  absl::flat_hash_map<Symbol, std::map<std::string, Ptr>> by_ns_;
  uint64_t version_ = 0;
};

struct Listers {
  ObjectStore<api::Service> services;
  ObjectStore<api::ReplicationController> replication_controllers;
  ObjectStore<api::ReplicaSet> replica_sets;
  ObjectStore<api::StatefulSet> stateful_sets;
  ObjectStore<api::PersistentVolume> volumes;
  ObjectStore<api::PersistentVolumeClaim> claims;
  ObjectStore<api::StorageClass> storage_classes;
  ObjectStore<api::PodDisruptionBudget> budgets;  // by namespace and name (mends B-04)

  // Selectors of the services, RCs, ReplicaSets and StatefulSets that a pod belongs to by its labels, in this order
  // (1.10 getSelectors). An unusable ReplicaSet or StatefulSet is skipped alone.
  std::vector<api::Selector> SelectorsOf(const api::PodTemplate& pod) const;
  // Services whose selector matches the pod's labels, by name.
  std::vector<std::shared_ptr<const api::Service>> ServicesOf(const api::PodTemplate& pod) const;
};

}  // namespace berth::scheduler
