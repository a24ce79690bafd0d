#include "pkg/api/decode.h"

#include <absl/strings/str_cat.h>

#include <array>

#include "pkg/api/decode_internal.h"
#include "pkg/util/status.h"

namespace berth::api {
namespace {

using DecodeFn = absl::StatusOr<Object> (*)(Json, const DecodeOptions&);

template <auto kDecode>
absl::StatusOr<Object> As(Json j, const DecodeOptions& o) {
  auto decoded = kDecode(j, o);
  if (!decoded.ok()) return decoded.status();
  return Object(*std::move(decoded));
}

struct Kind {
  std::string_view name;
  std::string_view groups;  // the apiVersions that serve it, between blanks
  DecodeFn decode;
};

constexpr std::string_view kCore = " v1 ";
constexpr std::string_view kApps = " apps/v1 apps/v1beta2 apps/v1beta1 ";
constexpr std::string_view kAppsAndExtensions = " apps/v1 apps/v1beta2 apps/v1beta1 extensions/v1beta1 ";
constexpr std::string_view kStorage = " storage.k8s.io/v1 storage.k8s.io/v1beta1 ";

constexpr std::array<Kind, 18> kKinds = {{
    {"Pod", kCore, As<DecodePod>},
    {"Node", kCore, As<DecodeNode>},
    {"Service", kCore, As<DecodeService>},
    {"ReplicationController", kCore, As<DecodeReplicationController>},
    {"ReplicaSet", kAppsAndExtensions, As<DecodeReplicaSet>},
    {"StatefulSet", kApps, As<DecodeStatefulSet>},
    {"Deployment", kAppsAndExtensions, As<DecodeDeployment>},
    {"PersistentVolume", kCore, As<DecodePersistentVolume>},
    {"PersistentVolumeClaim", kCore, As<DecodePersistentVolumeClaim>},
    {"StorageClass", kStorage, As<DecodeStorageClass>},
    {"PodDisruptionBudget", " policy/v1beta1 policy/v1 ", As<DecodePodDisruptionBudget>},
    {"PriorityClass", " scheduling.k8s.io/v1alpha1 scheduling.k8s.io/v1beta1 scheduling.k8s.io/v1 ",
     As<DecodePriorityClass>},
    {"Namespace", kCore, As<DecodeNamespace>},
    {"ConfigMap", kCore, As<DecodeConfigMap>},
    {"CSINode", kStorage, As<DecodeCsiNode>},
    {"CSIDriver", kStorage, As<DecodeCsiDriver>},
    {"CSIStorageCapacity", kStorage, As<DecodeCsiStorageCapacity>},
    {"VolumeAttachment", kStorage, As<DecodeVolumeAttachment>},
}};

}  // namespace

absl::StatusOr<Object> DecodeObject(Json j, std::string_view default_kind, const DecodeOptions& o) {
  internal::Reader r;
  std::string kind(default_kind), version;
  if (j.IsNull()) r.Fail({}, j, "must be an object");
  r.Fields({}, j, [&](std::string_view key, const internal::Path& p, Json v) {
    if (internal::Is(key, "kind")) {
      r.Read(p, v, &kind);
    } else if (internal::Is(key, "apiVersion")) {
      r.Read(p, v, &version);
    }
  });
  if (!r.ok()) return r.Status("object", j);
  if (kind.empty()) {
    r.Fail({}, j, "has no kind: an object needs apiVersion and kind");
    return r.Status("object", j);
  }
  for (const Kind& k : kKinds) {
    if (k.name != kind) continue;
    bool served = version.empty() || k.groups.find(" " + version + " ") != std::string_view::npos;
    if (served) return k.decode(j, o);
  }
  return absl::NotFoundError(absl::StrCat("no kind ", GoQuoted(kind), " is known for version ", GoQuoted(version)));
}

}  // namespace berth::api
