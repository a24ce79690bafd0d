// A typed informer: keeps a local copy (the store) of all objects of one resource and reports every change to one
// consumer.
//
//   Informer<api::Pod> pods(executor, client, ResourceOf<api::Pod>(dialect), {
//       .decode = [](api::Json j) { return api::DecodePod(j, {.keep_raw = true}); },
//       .on_batch = [&](InformerBatch<api::Pod> b) { queue.Push(std::move(b)); }});
//   pods.Start();
//
// The consumer receives the changes of every object in order, in batches. The store already contains the changes of a
// batch when that batch is delivered. When a list replaces the store, the consumer receives the difference: Added,
// Updated (also for objects that have not changed, as in client-go, unless `unchanged` drops them), and Deleted for
// objects that are gone, sorted by namespace and name. If an object was deleted and created again under its name
// between two lists, that is one Updated event whose old and new objects have different uids.
//
// Thread-safety: everything happens on the I/O thread unless a method says otherwise.
#pragma once
#include <absl/container/flat_hash_set.h>
#include <absl/status/statusor.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "pkg/api/decode.h"
#include "pkg/api/types.h"
#include "pkg/client/reflector.h"
#include "pkg/client/resources.h"

namespace berth::client {

template <typename T>
struct InformerEvent {
  enum class Kind : uint8_t { kAdded, kUpdated, kDeleted };
  Kind kind = Kind::kAdded;
  std::shared_ptr<const T> old_object;  // kUpdated: the object before; kDeleted: the last state in the store
  // kAdded, kUpdated: the object now; kDeleted: the state that the server reported last
  std::shared_ptr<const T> object;
};

template <typename T>
struct InformerBatch {
  std::vector<InformerEvent<T>> events;
  // True exactly once: for the batch that completes the first list. That batch is delivered even if the list is empty.
  bool initial_list_done = false;
};

template <typename T>
struct InformerOptions {
  std::function<absl::StatusOr<std::shared_ptr<const T>>(api::Json)> decode;
  std::shared_ptr<api::KnownParts> known;          // what need not be parsed again for `decode`; null: none
  std::function<void(InformerBatch<T>)> on_batch;  // called on the I/O thread; must not block
  // Returns whether an update, for instance a heartbeat, need not be reported. The store is updated all the same. If
  // empty, every update is reported.
  std::function<bool(const T& old_object, const T& object)> unchanged;
  size_t batch_size = 1024;  // the largest number of events in a batch of a list
  ReflectorOptions reflector;
};

template <typename T>
class Informer final : private ReflectorSink {
 public:
  using Ptr = std::shared_ptr<const T>;

  // `executor` and `client` must outlive the informer. Destroy it on the I/O thread, or after that thread has ended.
  Informer(Executor* executor, HttpClient* client, Resource resource, InformerOptions<T> options)
      : options_(std::move(options)), reflector_(executor, client, std::move(resource), this, options_.reflector) {}

  void Start() { reflector_.Start(); }

  // Returns whether the first complete list has been delivered. May be called from any thread.
  bool HasSynced() const { return synced_.load(std::memory_order_acquire); }
  // May be called from any thread.
  const ReflectorStats& stats() const { return reflector_.stats(); }
  // Returns how many updates `unchanged` has dropped. May be called from any thread.
  uint64_t dropped_updates() const { return dropped_.load(std::memory_order_relaxed); }

  // Returns an object of the store, or null. `ns` is empty for cluster-wide kinds. Called on the I/O thread.
  Ptr Find(util::Symbol ns, std::string_view name) const {
    auto it = store_.find(Name{ns, name});
    return it == store_.end() ? nullptr : it->object;
  }
  size_t size() const { return store_.size(); }
  void ForEach(const std::function<void(const Ptr&)>& f) const {
    for (const Slot& s : store_) f(s.object);
  }

 private:
  using Event = InformerEvent<T>;
  using Kind = typename Event::Kind;
  struct Name {
    util::Symbol ns;
    std::string_view name;
  };
  // The key of a slot is the namespace and name inside the object, so the object may only be replaced by one with the
  // same key. That is why it is mutable inside a set.
  struct Slot {
    mutable Ptr object;
    mutable uint32_t listed = 0;  // the number of the last list that contained it
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(const Name& n) const {
      return std::hash<std::string_view>()(n.name) ^ (n.ns.id() * 0x9e3779b97f4a7c15ull);
    }
    size_t operator()(const Slot& s) const { return (*this)(NameOf(s)); }
  };
  struct Equal {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      Name x = NameOf(a), y = NameOf(b);
      return x.ns == y.ns && x.name == y.name;
    }
  };
  static Name NameOf(const Name& n) { return n; }
  static Name NameOf(const Slot& s) { return {s.object->meta.ns, s.object->meta.name}; }

  absl::StatusOr<Ptr> Decode(api::Json json) {
    absl::StatusOr<Ptr> object = options_.decode(json);
    if (object.ok() && (*object)->meta.name.empty()) return absl::InvalidArgumentError("it has no metadata.name");
    return object;
  }

  void BeginList() override { ++list_; }

  absl::Status Listed(api::Json json) override {
    absl::StatusOr<Ptr> object = Decode(json);
    if (!object.ok()) {
      // The object exists but cannot be decoded, so its last known state is kept.
      auto meta = api::DecodeMeta(json);
      if (meta.ok()) {
        if (auto it = store_.find(Name{meta->ns, meta->name}); it != store_.end()) it->listed = list_;
      }
      return object.status();
    }
    Upsert(*std::move(object));
    if (batch_.size() >= options_.batch_size) Deliver(false);
    return absl::OkStatus();
  }

  void EndList() override {
    std::vector<Ptr> gone;
    for (const Slot& s : store_) {
      if (s.listed != list_) gone.push_back(s.object);
    }
    // The order of a hash table differs from run to run. The order in which pods leave a node decides which of equally
    // important pods is preempted, so it must not.
    std::sort(gone.begin(), gone.end(), [](const Ptr& a, const Ptr& b) {
      return std::tuple(a->meta.ns.str(), std::string_view(a->meta.name)) <
             std::tuple(b->meta.ns.str(), std::string_view(b->meta.name));
    });
    for (Ptr& p : gone) Remove(p);
    Deliver(!synced_.load(std::memory_order_relaxed));
    synced_.store(true, std::memory_order_release);
  }

  absl::Status Changed(Change change, api::Json json) override {
    absl::StatusOr<Ptr> object = Decode(json);
    if (!object.ok()) {
      // A deletion needs only the namespace and the name.
      auto meta = change == Change::kDeleted ? api::DecodeMeta(json) : absl::StatusOr<api::ObjectMeta>(object.status());
      if (meta.ok()) {
        if (Ptr known = Find(meta->ns, meta->name)) Remove(known);
      }
      return object.status();
    }
    if (change == Change::kDeleted) {
      Remove(*object);
    } else {
      Upsert(*std::move(object));
    }
    return absl::OkStatus();
  }

  api::KnownParts* known_parts() override { return options_.known.get(); }

  void Flush() override {
    if (!batch_.empty()) Deliver(false);
  }

  void Upsert(Ptr object) {
    auto it = store_.find(Name{object->meta.ns, object->meta.name});
    if (it == store_.end()) {
      store_.insert(Slot{object, list_});
      batch_.push_back({Kind::kAdded, nullptr, std::move(object)});
      return;
    }
    Ptr old = std::exchange(it->object, object);
    it->listed = list_;
    if (options_.unchanged && old->meta.uid == object->meta.uid && options_.unchanged(*old, *object)) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    batch_.push_back({Kind::kUpdated, std::move(old), std::move(object)});
  }

  void Remove(const Ptr& object) {
    auto it = store_.find(Name{object->meta.ns, object->meta.name});
    if (it == store_.end()) return;
    Ptr old = it->object;
    store_.erase(it);
    batch_.push_back({Kind::kDeleted, std::move(old), object});
  }

  void Deliver(bool initial_list_done) {
    if (batch_.empty() && !initial_list_done) return;
    options_.on_batch({std::exchange(batch_, {}), initial_list_done});
  }

  InformerOptions<T> options_;
  absl::flat_hash_set<Slot, Hash, Equal> store_;
  std::vector<Event> batch_;
  uint32_t list_ = 0;
  std::atomic<bool> synced_{false};
  std::atomic<uint64_t> dropped_{0};
  Reflector reflector_;  // must come last, because it calls into the members above
};

}  // namespace berth::client
