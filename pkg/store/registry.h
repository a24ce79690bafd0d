// Creates, changes, binds and deletes objects by the rules of the release: what a client may set, what the server sets,
// which writes conflict, and how deletion waits for grace periods and finalizers.
//
// Works on decoded values, writes to the store, and is independent of HTTP. Thread-safety: used on one thread only.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "pkg/store/api_types.h"
#include "pkg/store/object.h"
#include "pkg/store/status.h"
#include "pkg/store/store.h"
#include "pkg/util/clock.h"
#include "pkg/world/admission.h"

namespace berth::apiserver {

// The options of a DELETE, from DeleteOptions and the query.
struct DeleteRequest {
  bool dry_run = false;
  std::optional<int64_t> grace_seconds;
  std::optional<std::string> uid, resource_version;  // preconditions
  std::optional<bool> orphan_dependents;
  std::string propagation;  // "", "Orphan", "Background", "Foreground"
};

// The result of a DELETE.
struct Deleted {
  ObjectPtr object;
  bool as_status = false;  // respond with a Status Success instead of the object
};

struct UpdateRequest {
  std::string subresource;  // "", "status", "finalize", "resize"
  bool patch = false;       // for a PATCH a different uid is a 422, for a PUT a 409
};

template <typename T>
using Result = std::variant<T, ApiError>;

class Registry {
 public:
  // `store` and `clock` must outlive the registry.
  Registry(Store* store, const util::Clock* clock, const world::AdmissionPlugins& plugins = {})
      : store_(store), clock_(clock), plugins_(plugins), quotas_(catalog().Core("resourcequotas")) {}

  // Creates an object. `v` has been decoded for the resource. `ns` is the namespace in the URL.
  Result<ObjectPtr> Create(const ResourceInfo& r, size_t version, std::string_view ns, Value v);
  // Replaces an object. `*created` is set to true if the PUT created it.
  Result<ObjectPtr> Update(const ResourceInfo& r, size_t version, std::string_view ns, std::string_view name, Value v,
                           const UpdateRequest& how, bool* created = nullptr);
  Result<Deleted> Delete(const ResourceInfo& r, size_t version, std::string_view ns, std::string_view name,
                         const DeleteRequest& how);
  // Replaces an object by a changed copy of itself, status and all, unless it has changed since the copy was made
  // (409). For the server's own controllers and kubelets: nothing is validated. The last finalizer of an object that is
  // being deleted may go with it.
  std::optional<ApiError> Replace(const ResourceInfo& r, Value v);
  // POST pods/NAME/binding and bindings. The pod is the one that the Binding names. Returns nothing on success.
  std::optional<ApiError> Bind(std::string_view ns, const Value& binding);
  // The same for a Binding that names only a pod and a node. If `uid` is empty, any pod with that name may be bound.
  std::optional<ApiError> Bind(std::string_view ns, std::string_view pod, std::string_view node,
                               const Value* annotations, std::string_view uid = "");
  // POST pods/NAME/eviction: deletes the pod unless a PodDisruptionBudget forbids it. Returns nothing on success.
  std::optional<ApiError> Evict(std::string_view ns, std::string_view pod, const DeleteRequest& how);

  // While an object of this class with `on` exists, writes have their usual results but change nothing (dryRun=All).
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

  // Stores an object of a file. If `verbatim`, it is stored as it is, plus what every stored object has (uid,
  // namespace, version); otherwise with the server's defaults and admission's, but quotas do not refuse it. It is not
  // validated. Returns an error's text, for instance if another loaded object has the same uid.
  std::optional<std::string> Load(const ResourceInfo& r, size_t version, Value v, bool verbatim);

  // Creates the namespaces and the service that a new cluster has. Nothing may be loaded afterwards.
  void CreateInitialObjects(int64_t secure_port);

  // Makes what is made up at random (uids, the ends of generated names, ports) the same in every run. 0: as without it.
  void Seed(uint64_t seed) { random_ = seed; }

  std::string NowText() const;  // RFC 3339, whole seconds
  Store& store() { return *store_; }
  const Catalog& catalog() const { return store_->catalog(); }

 private:
  // Like those of the store, but a dry run changes nothing.
  uint64_t NextRv() { return dry_run_ ? 0 : store_->NextRv(); }
  void Put(const ResourceInfo& r, ObjectPtr o);
  // Returns the last state of an object that is being removed.
  ObjectPtr Last(const Object& o) { return dry_run_ ? std::make_shared<Object>(o) : WithResourceVersion(o, NextRv()); }
  void Remove(const ResourceInfo& r, ObjectPtr last);
  // Assigns node ports to those ports of a service that need one and do not name it.
  std::optional<ApiError> AllocateNodePorts(const ResourceInfo& r, Value* service);
  std::optional<ApiError> CheckBudget(const ResourceInfo& budgets, const Object& budget, const Value& pod);

  uint64_t Random();
  std::string NewUid();
  std::string GeneratedName(std::string_view prefix);
  std::string NewClusterIp();
  world::AdmissionOptions HowToAdmit(bool loading) const;
  // The admission plugins that complete an object. Appends what validation of the same fields would refuse to
  // `invalid`.
  std::optional<ApiError> Complete(const ResourceInfo& r, size_t version, Value* v, bool loading,
                                   FieldErrors* invalid) const;
  std::optional<ApiError> CheckQuota(const ResourceInfo& r, size_t version, const Value& v) const;
  // Brings the status of the quotas of a namespace up to date after an object has changed. Null: it did not exist, or
  // does not any more.
  void CountInQuotas(const ResourceInfo& r, const Object* before, const Object* after);
  std::optional<ApiError> AdmitToNamespace(const ResourceInfo& r, size_t version, std::string_view ns, const Value& v);
  void PrepareForCreate(const ResourceInfo& r, size_t version, Value* v);
  ObjectPtr StoreUpdate(const ResourceInfo& r, Value v, const ObjectPtr& old);
  // PUT and PATCH pods/NAME/resize: takes from `wanted` what its containers ask for, and nothing else.
  Result<ObjectPtr> Resize(const ResourceInfo& r, const Value& wanted, Value pod, const ObjectPtr& old);
  Result<Deleted> DeleteNamespace(const ResourceInfo& r, const ObjectPtr& old);
  // Sets or clears the finalizers that the propagation policy requires. Returns whether that changed anything.
  bool SetDeletionFinalizers(const ResourceInfo& r, size_t version, const DeleteRequest& how, Value* meta);

  Store* store_;
  const util::Clock* clock_;
  const world::AdmissionPlugins plugins_;
  const ResourceInfo& quotas_;
  mutable int64_t now_second_ = -1;
  mutable std::string now_text_;
  bool dry_run_ = false;
  uint64_t random_ = 0;
  uint32_t next_ip_ = 1;
  absl::flat_hash_map<std::string, std::string> loaded_uids_;  // uid -> object, while files are loaded
};

}  // namespace berth::apiserver
