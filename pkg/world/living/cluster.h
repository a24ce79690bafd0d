// What controllers and kubelets write to: the objects of an API server, without HTTP.
//
// A write is done when the call returns, and what is read afterwards shows it, so whoever acts on what they
// read does nothing twice.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/world/objects.h"
#include "pkg/world/rules.h"

namespace berth::world::living {

// Why a server refused a write: an HTTP status and its message.
struct Refused {
  int code = 0;
  std::string message;
};
using Written = std::optional<Refused>;

// The kinds whose changes controllers and kubelets are told. Of an object of another kind they do not know whether it
// is there.
inline constexpr std::string_view kFollowedKinds[] = {"Namespace",
                                                      "ServiceAccount",
                                                      "Node",
                                                      "StorageClass",
                                                      "PersistentVolume",
                                                      "PersistentVolumeClaim",
                                                      "Pod",
                                                      "ReplicationController",
                                                      "ReplicaSet",
                                                      "Deployment",
                                                      "StatefulSet",
                                                      "DaemonSet",
                                                      "Job",
                                                      "CronJob",
                                                      "PodDisruptionBudget",
                                                      "ConfigMap",
                                                      "Secret",
                                                      "Service",
                                                      "Endpoints",
                                                      "EndpointSlice",
                                                      "ControllerRevision",
                                                      "Ingress",
                                                      "NetworkPolicy",
                                                      "LimitRange",
                                                      "ResourceQuota",
                                                      "HorizontalPodAutoscaler",
                                                      "Role",
                                                      "RoleBinding",
                                                      "ResourceClaim",
                                                      "ResourceClaimTemplate"};

struct DeleteHow {
  std::optional<int64_t> grace_seconds{};
  std::string uid{};          // a precondition unless it is empty
  std::string propagation{};  // "", "Background", "Foreground", "Orphan"
};

class Cluster : public Objects {
 public:
  // Creates an object; its namespace is in its metadata. `*stored` gets the result unless it is null.
  virtual Written Create(std::string_view kind, Value object, Value* stored = nullptr) = 0;
  // Replaces everything but the status. An object that has another resourceVersion by now is a conflict (409).
  virtual Written Update(std::string_view kind, Value object) = 0;
  // Replaces the object with what was read as the same resourceVersion and changed. For status, and for what only the
  // server's own parts may change (a pod's owner references, a namespace's finalizers).
  virtual Written UpdateStatus(std::string_view kind, Value object) = 0;
  virtual Written Delete(std::string_view kind, std::string_view ns, std::string_view name, const DeleteHow& how) = 0;
  virtual Written Bind(std::string_view ns, std::string_view pod, std::string_view node) = 0;
  // Calls `f` for each object of the kind in all namespaces, by namespace and name.
  virtual void EachOf(std::string_view kind, const std::function<void(const Value&)>& f) const = 0;
  // Returns whether the release serves the kind.
  virtual bool Serves(std::string_view kind) const = 0;
  // Writes the Lease of a node. Nobody who watches leases is told of renewals.
  virtual void RenewLease(std::string_view node) = 0;
};

}  // namespace berth::world::living
