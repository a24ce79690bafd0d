// All objects, in memory, with the history that watches need.
//
// One counter gives every change of any resource the next resource version. Each resource keeps its last events (the
// window), so a watch may begin in the past, and lists may continue a page at the version of their first page.
// Owned by one thread; nothing here locks.
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

#include "pkg/apiserver/api_types.h"
#include "pkg/apiserver/object.h"

namespace berth::apiserver {

enum class EventType : uint8_t { kAdded, kModified, kDeleted };

// A change. The texts that watchers are sent are made once, by the first that needs them (frames).
struct Event {
  EventType type = EventType::kAdded;
  uint64_t rv = 0;
  ObjectPtr object;  // the new state; of a deletion the last one, with the deletion's resource version
  ObjectPtr old;     // the state before; null when added
  // Chunks of HTTP/1.1 in the resource's first version: as ADDED, as MODIFIED, as DELETED, and as DELETED with the old
  // state. Filled in by FrameOf.
  mutable std::shared_ptr<const std::string> frames[4];
  // The same in the other versions, four for each, as long as a watcher still has to read them.
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
  explicit Store(Release release = Release::k1_10);
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // The release whose resources are stored.
  const Catalog& catalog() const { return catalog_; }
  // The resource version of the latest change.
  uint64_t rv() const { return rv_; }
  uint64_t NextRv() { return ++rv_; }
  // What is in the store now is the beginning: its history is forgotten (after loading files).
  void ForgetHistory();

  ObjectPtr Get(const ResourceInfo& r, std::string_view ns, std::string_view name) const;

  // Adds or replaces; the object's rv must come from NextRv. Listeners hear of it before the call returns.
  void Put(const ResourceInfo& r, ObjectPtr o);
  // Removes the object of that key; the event carries `last` (its rv from NextRv).
  void Remove(const ResourceInfo& r, ObjectPtr last);

  // Objects of a namespace (all when empty) in the order of their keys, from `start_key` on. The callback returns false
  // to stop.
  void Scan(const ResourceInfo& r, std::string_view ns, std::string_view start_key,
            const std::function<bool(const ObjectPtr&)>& f) const;
  // The same as of resource version `at`; false when that is too long ago.
  bool ScanAt(const ResourceInfo& r, std::string_view ns, std::string_view start_key, uint64_t at,
              const std::function<bool(const ObjectPtr&)>& f) const;

  // The version of the resource's last event (what a list with resourceVersion=0 reports).
  uint64_t LastRv(const ResourceInfo& r) const { return At(r).last_rv; }
  // Versions before this one cannot be watched from any more.
  uint64_t Floor(const ResourceInfo& r) const { return At(r).floor; }
  // The events after `rv` that are still known, oldest first.
  const std::deque<EventPtr>& Window(const ResourceInfo& r) const { return At(r).window; }
  size_t size(const ResourceInfo& r) const { return At(r).objects.size(); }
  size_t window_size(const ResourceInfo& r) const { return At(r).window_size; }
  size_t listeners(const ResourceInfo& r) const { return At(r).listeners.size(); }

  void SetWindow(std::string_view resource, size_t events);
  void SetDefaultWindow(size_t events);  // of the resources without a larger one of their own

  // A listener is called until it is removed; it may remove itself while it is called.
  void AddListener(const ResourceInfo& r, EventListener* l);
  void RemoveListener(const ResourceInfo& r, EventListener* l);
  // Tells all listeners the time.
  void Tick(absl::Duration now);

 private:
  struct Collection {
    absl::btree_map<std::string, ObjectPtr> objects;
    std::deque<EventPtr> window;
    size_t window_size = 100;
    uint64_t last_rv = 0;
    uint64_t floor = 0;
    std::vector<EventListener*> listeners;  // null: removed while it is published
    bool publishing = false;
  };
  Collection& At(const ResourceInfo& r) { return collections_[static_cast<size_t>(&r - catalog_.resources().data())]; }
  const Collection& At(const ResourceInfo& r) const {
    return collections_[static_cast<size_t>(&r - catalog_.resources().data())];
  }
  void Publish(Collection& c, EventPtr e);
  template <typename F>
  void ForEachListener(Collection& c, F call);

  const Catalog& catalog_;
  std::vector<Collection> collections_;
  uint64_t rv_ = 0;
};

}  // namespace berth::apiserver
