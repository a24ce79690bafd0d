// Creating, changing, binding and deleting objects by 1.10's rules: what a client may set, what the server sets,
// which writes conflict, how deletion waits for grace periods and finalizers.
//
// Works on decoded values and writes to the store; knows nothing of HTTP. Owned by one thread.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "pkg/apiserver/api_types.h"
#include "pkg/apiserver/object.h"
#include "pkg/apiserver/status.h"
#include "pkg/apiserver/store.h"
#include "pkg/util/clock.h"

namespace berth::apiserver {

// What DeleteOptions and the query of a DELETE ask for.
struct DeleteRequest {
  bool dry_run = false;
  std::optional<int64_t> grace_seconds;
  std::optional<std::string> uid, resource_version;  // preconditions
  std::optional<bool> orphan_dependents;
  std::string propagation;  // "", "Orphan", "Background", "Foreground"
};

// What a DELETE answers.
struct Deleted {
  ObjectPtr object;
  bool as_status = false;  // Status Success instead of the object
};

struct UpdateRequest {
  std::string subresource;  // "", "status", "finalize"
  bool patch = false;       // a PATCH: a foreign uid is 422 there, 409 in a PUT
};

template <typename T>
using Result = std::variant<T, ApiError>;

class Registry {
 public:
  // Both must outlive the registry.
  Registry(Store* store, const util::Clock* clock) : store_(store), clock_(clock) {}

  // `v` has been decoded for the resource. `ns` is the namespace of the URL.
  Result<ObjectPtr> Create(const ResourceInfo& r, size_t version, std::string_view ns, Value v);
  // `created` tells whether the PUT made a new object.
  Result<ObjectPtr> Update(const ResourceInfo& r, size_t version, std::string_view ns, std::string_view name, Value v,
                           const UpdateRequest& how, bool* created = nullptr);
  Result<Deleted> Delete(const ResourceInfo& r, size_t version, std::string_view ns, std::string_view name,
                         const DeleteRequest& how);
  // POST pods/NAME/binding and bindings; the pod is the one that the Binding names. Empty: done.
  std::optional<ApiError> Bind(std::string_view ns, const Value& binding);
  // The same for a Binding that is known to name just a pod and a node. `uid` is empty when any pod of the name will
  // do.
  std::optional<ApiError> Bind(std::string_view ns, std::string_view pod, std::string_view node,
                               const Value* annotations, std::string_view uid = "");
  // POST pods/NAME/eviction: deletes the pod unless a PodDisruptionBudget forbids it. Empty: done.
  std::optional<ApiError> Evict(std::string_view ns, std::string_view pod, const DeleteRequest& how);

  // While one of these lives, writes are answered as always and change nothing (dryRun=All).
  class DryRun {
   public:
    DryRun(Registry* registry, bool on) : registry_(registry), before_(registry->dry_run_) {
      registry_->dry_run_ = before_ || on;
    }
    ~DryRun() { registry_->dry_run_ = before_; }
    DryRun(const DryRun&) = delete;
    DryRun& operator=(const DryRun&) = delete;

   private:
    Registry* registry_;
    bool before_;
  };

  // Stores an object of a file. Verbatim: as it is, but for what every stored object has (uid, namespace, version).
  // Otherwise with the server's defaulting and without validation. The error names what is wrong, such as a uid that
  // another object of the files has.
  std::optional<std::string> Load(const ResourceInfo& r, size_t version, Value v, bool verbatim);

  // The namespaces and the service that a new cluster has. Nothing is loaded after this.
  void CreateInitialObjects(int64_t secure_port);

  std::string NowText() const;  // RFC 3339, whole seconds
  Store& store() { return *store_; }
  const Catalog& catalog() const { return store_->catalog(); }

 private:
  // The store's, unless this is a dry run.
  uint64_t NextRv() { return dry_run_ ? 0 : store_->NextRv(); }
  void Put(const ResourceInfo& r, ObjectPtr o) {
    if (!dry_run_) store_->Put(r, std::move(o));
  }
  // The last state of an object that is removed.
  ObjectPtr Last(const Object& o) { return dry_run_ ? std::make_shared<Object>(o) : WithResourceVersion(o, NextRv()); }
  void Remove(const ResourceInfo& r, ObjectPtr last) {
    if (!dry_run_) store_->Remove(r, std::move(last));
  }
  // Gives the ports of a service that has node ports those that it does not name.
  std::optional<ApiError> AllocateNodePorts(const ResourceInfo& r, Value* service);
  std::optional<ApiError> CheckBudget(const ResourceInfo& budgets, const Object& budget);

  uint64_t Random();
  std::string NewUid();
  std::string NewClusterIp();
  std::optional<ApiError> AdmitPod(Value* pod);
  std::optional<ApiError> AdmitToNamespace(const ResourceInfo& r, size_t version, std::string_view ns, const Value& v);
  void PrepareForCreate(const ResourceInfo& r, size_t version, Value* v);
  ObjectPtr StoreUpdate(const ResourceInfo& r, Value& v, const ObjectPtr& old);
  Result<Deleted> DeleteNamespace(const ResourceInfo& r, const ObjectPtr& old);
  // Sets or clears the finalizers that a propagation policy asks for; true when that changed something.
  bool SetDeletionFinalizers(const ResourceInfo& r, size_t version, const DeleteRequest& how, Value* meta);

  Store* store_;
  const util::Clock* clock_;
  mutable int64_t now_second_ = -1;
  mutable std::string now_text_;
  bool dry_run_ = false;
  uint64_t random_ = 0;
  uint32_t next_ip_ = 1;
  absl::flat_hash_map<std::string, std::string> loaded_uids_;  // the object of each uid, while files are loaded
};

}  // namespace berth::apiserver
