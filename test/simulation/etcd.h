// What etcd is to an API server: objects by resource and name, one revision counter, and the history of all changes.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace berth::simulation {

struct PodView;
struct NodeView;

// An object of the API as its JSON text, with what is needed to find and compare it. It never changes.
struct Object {
  std::string json;
  std::string uid;
  uint64_t version = 0;  // its resourceVersion, which is also in the JSON
  // What ReadPod and ReadNode (objects.h) made of it, so that they parse it once.
  mutable std::shared_ptr<const PodView> pod;
  mutable std::shared_ptr<const NodeView> node;
};
using ObjectPtr = std::shared_ptr<const Object>;

struct Commit {
  uint64_t version;
  std::string resource, key;  // "pods", "default/web-1"
  ObjectPtr before, after;    // before is null for a creation, after for a deletion
};

class Etcd {
 public:
  using Table = std::map<std::string, ObjectPtr>;

  // Called behind every change.
  std::function<void(const Commit&)> on_commit;

  // Returns null when there is none.
  ObjectPtr Get(const std::string& resource, const std::string& key) const;
  const Table& List(const std::string& resource) { return tables_[resource]; }

  // Stores `json`, whose metadata.uid and metadata.resourceVersion are replaced by the object's uid (a new one when
  // there was no object) and the next version. Returns what was stored.
  ObjectPtr Put(const std::string& resource, const std::string& key, std::string_view json);
  // REQUIRES: the object exists.
  void Delete(const std::string& resource, const std::string& key);

  uint64_t version() const { return version_; }
  const std::deque<Commit>& history() const { return history_; }

 private:
  void Add(Commit c);

  uint64_t version_ = 1000, uids_ = 0;
  std::map<std::string, Table> tables_;
  std::deque<Commit> history_;
};

}  // namespace berth::simulation
