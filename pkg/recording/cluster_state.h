// The state that a recording has shown so far: the objects of the cluster, and the scheduler's requests in flight.
//
// The recorder needs it to write checkpoints, and the reader needs it to restore the members of an object that a change
// leaves out. Thread-safety: not thread-safe.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "pkg/recording/event.h"
#include "pkg/util/contract.h"

namespace berth::recording {

// The scheduler's requests in flight, as far as its outputs and the replies to them tell.
struct InFlight {
  // By uid, pods whose bind the scheduler has decided and the watch has not shown yet: the node of a bind that did not
  // fail, and whether the bind was confirmed.
  struct Assumed {
    util::SharedSymbol node;
    bool bound = false;
  };
  absl::flat_hash_map<std::string, Assumed> assumed;
  // By uid, the nominated node, and the resourceVersion with which it was written once that is known.
  std::map<std::string, std::pair<std::string, std::string>> nominated;
  // The uids of pods that wait and were nominated at some time. Whether such a nomination still counts, or counts
  // again, depends on where the scheduler has the pod just then.
  std::set<std::string> once_nominated;
  // Unanswered requests: the uid of the pod that is bound, read or nominated, or for which a victim is marked or
  // deleted.
  absl::flat_hash_map<scheduler::RequestId, std::string> open_binds, open_gets, open_nominations, open_marks,
      open_deletions;
  // Round-robin counters, which choose among equal nodes, by scheduler name.
  absl::flat_hash_map<util::Symbol, uint64_t> round_robin;

  void Binds(scheduler::RequestId id, const std::string& uid, util::Symbol node);
  // Returns whether the request is an unanswered bind of the pod with this uid to this node.
  bool IsOpenBind(scheduler::RequestId id, const std::string& uid, util::Symbol node) const;
  void Reads(scheduler::RequestId id, const std::string& uid) { open_gets[id] = uid; }
  // Notes a nomination; an empty `node` takes it back.
  void Nominates(scheduler::RequestId id, const std::string& uid, const std::string& node);
  // Notes that the watch shows a pending pod. Returns the node that still counts as nominated because the shown object
  // is older than the nomination.
  std::optional<std::string> Shown(const api::Pod& pod);
  // Notes a nomination in memory: from release 1.29 on a pod is nominated while its victims are evicted, before
  // anything is written.
  void Prepares(const std::string& uid, std::string_view node) {
    nominated[uid] = {std::string(node), ""};
    once_nominated.insert(uid);
  }
  // Notes a request to mark a victim of the pod with this uid, or to delete it.
  void Marks(scheduler::RequestId id, const std::string& uid) { open_marks[id] = uid; }
  void Deletes(scheduler::RequestId id, const std::string& uid) { open_deletions[id] = uid; }
  // What a reply means for the pod that was requested for: its uid in at most one of these, and "" in the others.
  struct Meaning {
    std::string unassumed = {};    // the pod is no longer assumed
    std::string unnominated = {};  // a victim was not evicted, so the nomination in memory is void
    std::string evicting = {};     // the eviction goes on
    std::string read = {};         // the pod was read, as a preemptor or for another reason
  };
  Meaning Answered(const scheduler::Reply& r);
  void Drop(const std::string& uid) { assumed.erase(uid); }
  // Notes that the pod has a node, has ended, or is gone.
  void Left(const std::string& uid) {
    Drop(uid);
    nominated.erase(uid);
    once_nominated.erase(uid);
  }
};

// Objects of one kind by namespace and name. An entry is the object and a hash, so that the table grows without copying
// names and without reading the objects, which may not be in this processor's caches.
template <typename T>
class ObjectTable {
 public:
  // Returns the object with this name, or null. Valid until the table changes.
  const std::shared_ptr<const T>* Find(util::Symbol ns, std::string_view name) const {
    auto it = entries_.find(NameOf(ns, name));
    return it == entries_.end() ? nullptr : &it->object;
  }
  // Adds the object, or replaces the one with the same name. REQUIRES: not null.
  void Set(std::shared_ptr<const T> object) {
    BERTH_REQUIRES(object != nullptr);
    const Name name = NameOf(object->meta.ns, object->meta.name);
    auto it = entries_.find(name);
    if (it == entries_.end()) {
      entries_.insert({std::move(object), name.hash});
    } else {
      it->object = std::move(object);
    }
  }
  void Erase(const api::ObjectMeta& meta) {
    if (auto it = entries_.find(NameOf(meta.ns, meta.name)); it != entries_.end()) entries_.erase(it);
  }
  // Returns all objects with their keys ("namespace/name" or "name"), in ascending order of the keys.
  std::vector<std::pair<std::string, std::shared_ptr<const T>>> Sorted() const {
    std::vector<std::pair<std::string, std::shared_ptr<const T>>> all;
    for (const Entry& e : entries_) all.emplace_back(e.object->meta.Key(), e.object);
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  struct Entry {
    mutable std::shared_ptr<const T> object;  // replaced only by an object with the same name
    size_t hash;
  };
  struct Name {
    util::Symbol ns;
    std::string_view name;
    size_t hash;
  };
  static Name NameOf(util::Symbol ns, std::string_view name) { return {ns, name, absl::HashOf(ns, name)}; }
  struct Hash {
    using is_transparent = void;
    size_t operator()(const Entry& e) const { return e.hash; }
    size_t operator()(const Name& n) const { return n.hash; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Entry& a, const Entry& b) const {
      return (*this)(a, Name{b.object->meta.ns, b.object->meta.name, b.hash});
    }
    bool operator()(const Entry& e, const Name& n) const {
      return e.hash == n.hash && e.object->meta.ns == n.ns && e.object->meta.name == n.name;
    }
  };
  absl::flat_hash_set<Entry, Hash, Equal> entries_;
};

// The objects shown so far.
class ClusterState : public InFlight {
 public:
  template <typename T>
  const ObjectTable<T>& Of() const {
    return std::get<ObjectTable<T>>(objects_);
  }
  // Returns the object with this key ("namespace/name", or "name" for cluster-wide kinds), or null.
  template <typename T>
  std::shared_ptr<const T> Find(std::string_view key) const {
    const size_t slash = key.find('/');
    util::Symbol ns;
    if (slash != std::string_view::npos) {
      ns = util::Symbol::Find(key.substr(0, slash));
      if (ns.empty()) return nullptr;  // no known object is in this namespace
      key.remove_prefix(slash + 1);
    }
    const auto* found = Of<T>().Find(ns, key);
    return found == nullptr ? nullptr : *found;
  }
  // Notes a change. The first form moves the new object out of it.
  void Note(AnyChange&& c);
  void Note(const AnyChange& c) { Note(AnyChange(c)); }
  // Calls f(kind index, object) for all objects, kind by kind, keys in ascending order, pods last.
  template <typename F>
  void ForEach(F f) const {
    size_t kind = 0;
    api::WatchedKinds::ForEach([&]<typename T>() {
      for (const auto& [key, object] : Of<T>().Sorted()) f(kind, object);
      ++kind;
    });
  }

 private:
  api::WatchedKinds::Of<std::tuple, ObjectTable> objects_;
};

}  // namespace berth::recording
