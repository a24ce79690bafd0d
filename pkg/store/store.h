// All objects, in memory, with the history that watches need.
//
// One counter assigns the next resource version to each change of any resource. Each resource keeps its latest events
// (the window), so that a watch may begin in the past and a list may continue a page at the version of its first page.
// Thread-safety: belongs to one thread; nothing here locks.
#pragma once
#include <absl/container/btree_map.h>
#include <absl/time/time.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/store/api_types.h"
#include "pkg/store/object.h"

namespace berth::apiserver {

enum class EventType : uint8_t { kAdded, kModified, kDeleted };

// A change. The texts for watchers (frames) are made by the first watcher that needs them, and shared.
struct Event {
  EventType type = EventType::kAdded;
  uint64_t rv = 0;
  ObjectPtr object;  // the new state, or for a deletion the last one with the deletion's resource version
  ObjectPtr old;     // the state before; null for kAdded
  // HTTP/1.1 chunks in the resource's first version: as ADDED, as MODIFIED, as DELETED, and as DELETED with the old
  // state. Filled in by FrameOf.
  mutable std::shared_ptr<const std::string> frames[4];
  // The same in the other versions, four for each, as long as some watcher has not read them yet.
  mutable std::vector<std::weak_ptr<const std::string>> other_frames;
};
using EventPtr = std::shared_ptr<const Event>;

class EventListener {
 public:
  virtual ~EventListener() = default;
  // Called for every event of the resource, in order. Must not change the store.
  virtual void OnEvent(const EventPtr& e) = 0;
  // Called about once a second with the time of the steady clock. Must not change the store.
  virtual void OnTick(absl::Duration /*now*/) {}
};

class Store {
 public:
  explicit Store(Version release);
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Returns the catalog of the release whose resources are stored.
  const Catalog& catalog() const { return catalog_; }
  // Returns the resource version of the latest change.
  uint64_t rv() const { return rv_; }
  uint64_t NextRv() { return ++rv_; }
  // Discards the history of changes, so that watches can begin only at the current contents. Called after files have
  // been loaded.
  void ForgetHistory();

  ObjectPtr Get(const ResourceInfo& r, std::string_view ns, std::string_view name) const;

  // ---- objects as values ----
  // Holds the values of so many objects that were read or written last, for those who read them next; 0 at first.
  void HoldValues(size_t most);
  // Holds the value that was read or written last of each object until it changes. For a store whose objects are read
  // more often than they are sent; a value takes some times as much memory as its text.
  void HoldAllValues() { holds_all_ = true; }
  // Returns the object as a value of the version (ToValue), shared by everybody who reads it while it is held.
  std::shared_ptr<const Value> Read(const ResourceInfo& r, size_t version, const Object& o) const;
  // Returns the same as a copy to be changed.
  Value ReadCopy(const ResourceInfo& r, size_t version, const Object& o) const;
  // Makes an object of `v` (MakeObject), and spares readers its parsing.
  ObjectPtr Make(const ResourceInfo& r, Value v, uint64_t rv) const;
  // The same for a change of `old`. Returns `old` if it is equal but for its resource version, and otherwise an object
  // with the version that `next_rv` returns.
  ObjectPtr MakeChanged(const ResourceInfo& r, Value v, const ObjectPtr& old,
                        const std::function<uint64_t()>& next_rv) const;

  // Adds or replaces an object, whose rv must come from NextRv. Listeners are called before this returns.
  void Put(const ResourceInfo& r, ObjectPtr o);
  // Removes the object with the key of `last`. The event carries `last`, whose rv must come from NextRv.
  void Remove(const ResourceInfo& r, ObjectPtr last);

  // Replaces an object that is there by another text of the same version, without an event: nobody who watches is told.
  // For the renewals of node leases, which would push everything else out of the history.
  void Refresh(const ResourceInfo& r, ObjectPtr o);

  // Calls f for the objects of a namespace (of all namespaces if `ns` is empty) in the order of their keys, starting at
  // `start_key`. f returns false to stop.
  void Scan(const ResourceInfo& r, std::string_view ns, std::string_view start_key,
            const std::function<bool(const ObjectPtr&)>& f) const;
  // The same for the state at resource version `at`. Returns false if that is too long ago.
  bool ScanAt(const ResourceInfo& r, std::string_view ns, std::string_view start_key, uint64_t at,
              const std::function<bool(const ObjectPtr&)>& f) const;

  // Returns the version of the resource's latest event, which a list with resourceVersion=0 reports.
  uint64_t LastRv(const ResourceInfo& r) const { return At(r).last_rv; }
  // Returns the oldest version from which a watch can begin.
  uint64_t Floor(const ResourceInfo& r) const { return At(r).floor; }
  // Returns the events that are kept, oldest first.
  const std::deque<EventPtr>& Window(const ResourceInfo& r) const { return At(r).window; }
  size_t size(const ResourceInfo& r) const { return At(r).objects.size(); }
  size_t window_size(const ResourceInfo& r) const { return At(r).window_size; }
  size_t listeners(const ResourceInfo& r) const { return At(r).listeners.size(); }

  void SetWindow(std::string_view resource, size_t events);
  void SetDefaultWindow(size_t events);  // for resources that do not have a larger one of their own

  // A listener is called until it is removed. It may remove itself while it is being called.
  void AddListener(const ResourceInfo& r, EventListener* l);
  void RemoveListener(const ResourceInfo& r, EventListener* l);
  // Calls OnTick of all listeners.
  void Tick(absl::Duration now);

 private:
  struct Collection {
    absl::btree_map<std::string, ObjectPtr> objects;
    std::deque<EventPtr> window;
    size_t window_size = 100;
    uint64_t last_rv = 0;
    uint64_t floor = 0;
    std::vector<EventListener*> listeners;  // null: removed while listeners are being called
    bool publishing = false;
  };
  Collection& At(const ResourceInfo& r) { return collections_[static_cast<size_t>(&r - catalog_.resources().data())]; }
  const Collection& At(const ResourceInfo& r) const {
    return collections_[static_cast<size_t>(&r - catalog_.resources().data())];
  }
  void Publish(Collection& c, EventPtr e);
  bool holds_any() const { return holds_all_ || !held_.empty(); }
  void Hold(const Object& o, size_t version, const std::shared_ptr<const Value>& v) const;
  void NoteValue(const ResourceInfo& r, const Object& o, Value v) const;
  template <typename F>
  void ForEachListener(Collection& c, F call);

  const Catalog& catalog_;
  std::vector<Collection> collections_;
  uint64_t rv_ = 0;
  mutable std::vector<std::shared_ptr<const Value>> held_;  // a ring
  mutable size_t next_held_ = 0;
  bool holds_all_ = false;
};

}  // namespace berth::apiserver
