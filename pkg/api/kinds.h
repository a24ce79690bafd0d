// All kinds of objects that the scheduler follows, in one list. Whatever is needed once for each kind is generated from
// it: decoding (decode.h), the resources that a client lists and watches (pkg/client/resources.h), the daemon's
// informers and inbox, the stores of the cache (pkg/scheduler/cache/listers.h), what is recorded, and what schedsim
// reads.
//
// To add a kind, add a struct to types.h, the function that reads it (decode_internal.h), a store to Listers if rules
// look it up, and one line here.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "pkg/api/types.h"
#include "pkg/release/release.h"

// X(type, kind, versions, plural, store, followed_since, stable_since)
//   type          in types.h
//   kind          the API's name
//   versions      that serve it, separated by blanks, the oldest first where that was ever followed
//   plural        as in paths
//   store         its member in Listers
//   followed_since, stable_since
//                 the minor version of the release that follows it first, and of the one that asks for its stable
//                 version first, with the other one to fall back to
#define BERTH_STORED_KINDS(X)                                                                                          \
  X(Service, "Service", "v1", "services", services, 0, 0)                                                              \
  X(ReplicationController, "ReplicationController", "v1", "replicationcontrollers", replication_controllers, 0, 0)     \
  X(ReplicaSet, "ReplicaSet", "extensions/v1beta1 apps/v1beta1 apps/v1beta2 apps/v1", "replicasets", replica_sets, 0,  \
    11)                                                                                                                \
  X(StatefulSet, "StatefulSet", "apps/v1beta1 apps/v1beta2 apps/v1", "statefulsets", stateful_sets, 0, 11)             \
  X(PersistentVolume, "PersistentVolume", "v1", "persistentvolumes", volumes, 0, 0)                                    \
  X(PersistentVolumeClaim, "PersistentVolumeClaim", "v1", "persistentvolumeclaims", claims, 0, 0)                      \
  X(PodDisruptionBudget, "PodDisruptionBudget", "policy/v1beta1 policy/v1", "poddisruptionbudgets", budgets, 9, 21)    \
  X(StorageClass, "StorageClass", "storage.k8s.io/v1 storage.k8s.io/v1beta1", "storageclasses", storage_classes, 0, 0) \
  X(Namespace, "Namespace", "v1", "namespaces", namespaces, 21, 0)                                                     \
  X(CsiNode, "CSINode", "storage.k8s.io/v1 storage.k8s.io/v1beta1", "csinodes", csi_nodes, 17, 17)                     \
  X(CsiDriver, "CSIDriver", "storage.k8s.io/v1 storage.k8s.io/v1beta1", "csidrivers", csi_drivers, 21, 18)             \
  X(CsiStorageCapacity, "CSIStorageCapacity", "storage.k8s.io/v1 storage.k8s.io/v1beta1", "csistoragecapacities",      \
    csi_capacities, 21, 24)                                                                                            \
  X(VolumeAttachment, "VolumeAttachment", "storage.k8s.io/v1 storage.k8s.io/v1beta1", "volumeattachments",             \
    attachments, 21, 13)                                                                                               \
  X(ResourceClaim, "ResourceClaim", "resource.k8s.io/v1 resource.k8s.io/v1beta1", "resourceclaims", device_claims, 34, \
    34)                                                                                                                \
  X(ResourceSlice, "ResourceSlice", "resource.k8s.io/v1 resource.k8s.io/v1beta1", "resourceslices", device_slices, 34, \
    34)                                                                                                                \
  X(DeviceClass, "DeviceClass", "resource.k8s.io/v1 resource.k8s.io/v1beta1", "deviceclasses", device_classes, 34, 34)

// Nodes and pods are in the node table and have no stores of their own. Pods come last, because the objects to which a
// pod refers should be stored before the pod.
#define BERTH_WATCHED_KINDS(X)                \
  X(Node, "Node", "v1", "nodes", nodes, 0, 0) \
  BERTH_STORED_KINDS(X)                       \
  X(Pod, "Pod", "v1", "pods", pods, 0, 0)

namespace berth::api {

template <typename T>
using Ptr = std::shared_ptr<const T>;

template <typename... T>
struct KindList {
  static constexpr size_t kSize = sizeof...(T);
  // Is C<W<T>...>, such as std::variant<Ptr<Node>, ...>.
  template <template <typename...> typename C, template <typename> typename W>
  using Of = C<W<T>...>;
  template <typename... U>
  using With = KindList<T..., U...>;
  // Calls f.template operator()<T>() for each kind in order.
  template <typename F>
  static void ForEach(F&& f) {
    (f.template operator()<T>(), ...);
  }
};

namespace internal {
template <typename First, typename... T>
struct ListBehind {
  using List = KindList<T...>;
};
#define BERTH_LISTED(type, ...) , type
using WatchedKinds = ListBehind<void BERTH_WATCHED_KINDS(BERTH_LISTED)>::List;
using StoredKinds = ListBehind<void BERTH_STORED_KINDS(BERTH_LISTED)>::List;
#undef BERTH_LISTED
}  // namespace internal

using WatchedKinds = internal::WatchedKinds;
using StoredKinds = internal::StoredKinds;

// The entry of a kind in the list.
struct KindDescription {
  std::string_view kind, versions, plural;
  // The releases that follow the kind, and those that ask for its stable version first.
  release::Span followed = {}, stable = {};
};
template <typename T>
struct KindOf;
#define BERTH_DESCRIBED(type, kind, versions, plural, store, followed_since, stable_since)                   \
  template <>                                                                                                \
  struct KindOf<type> {                                                                                      \
    static constexpr KindDescription kDescription = {kind, versions, plural, release::Since(followed_since), \
                                                     release::Since(stable_since)};                          \
  };
BERTH_WATCHED_KINDS(BERTH_DESCRIBED)
#undef BERTH_DESCRIBED

}  // namespace berth::api
