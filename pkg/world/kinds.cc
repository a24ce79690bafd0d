#include "pkg/world/kinds.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/util/status.h"

namespace berth::world {
namespace {

struct KindRow {
  std::string_view kind, resource;
  std::string_view groups;  // separated by blanks, the one of today first; "-" is the core group
};
constexpr KindRow kKinds[] = {
    {"Pod", "pods", "-"},
    {"Node", "nodes", "-"},
    {"Service", "services", "-"},
    {"ConfigMap", "configmaps", "-"},
    {"Secret", "secrets", "-"},
    {"Namespace", "namespaces", "-"},
    {"LimitRange", "limitranges", "-"},
    {"ResourceQuota", "resourcequotas", "-"},
    {"ServiceAccount", "serviceaccounts", "-"},
    {"ReplicationController", "replicationcontrollers", "-"},
    {"PersistentVolume", "persistentvolumes", "-"},
    {"PersistentVolumeClaim", "persistentvolumeclaims", "-"},
    {"Deployment", "deployments", "apps extensions"},
    {"ReplicaSet", "replicasets", "apps extensions"},
    {"StatefulSet", "statefulsets", "apps"},
    {"DaemonSet", "daemonsets", "apps extensions"},
    {"Job", "jobs", "batch"},
    {"CronJob", "cronjobs", "batch"},
    {"HorizontalPodAutoscaler", "horizontalpodautoscalers", "autoscaling extensions"},
    {"Endpoints", "endpoints", "-"},
    {"EndpointSlice", "endpointslices", "discovery.k8s.io"},
    {"ControllerRevision", "controllerrevisions", "apps"},
    {"Lease", "leases", "coordination.k8s.io"},
    {"ResourceClaim", "resourceclaims", "resource.k8s.io"},
    {"PodDisruptionBudget", "poddisruptionbudgets", "policy"},
    {"Ingress", "ingresses", "networking.k8s.io extensions"},
    {"NetworkPolicy", "networkpolicies", "networking.k8s.io extensions"},
    {"PriorityClass", "priorityclasses", "scheduling.k8s.io"},
    {"RuntimeClass", "runtimeclasses", "node.k8s.io"},
    {"StorageClass", "storageclasses", "storage.k8s.io"},
};

const KindRow* RowOf(std::string_view kind) {
  for (const KindRow& row : kKinds) {
    if (row.kind == kind) return &row;
  }
  return nullptr;
}

}  // namespace

std::string ResourceText(std::string_view kind) {
  const KindRow* row = RowOf(kind);
  if (row == nullptr) return absl::StrCat(absl::AsciiStrToLower(util::ToAbsl(kind)), "s");
  const std::string_view group = row->groups.substr(0, row->groups.find(' '));
  return group == "-" ? std::string(row->resource)
                      : absl::StrCat(util::ToAbsl(row->resource), ".", util::ToAbsl(group));
}

bool IsOwnGroup(std::string_view kind, std::string_view api_version) {
  const KindRow* row = RowOf(kind);
  if (row == nullptr) return true;
  const size_t slash = api_version.find('/');
  const std::string_view group = slash == std::string_view::npos ? "-" : api_version.substr(0, slash);
  std::string_view groups = row->groups;
  while (!groups.empty()) {
    const size_t end = std::min(groups.find(' '), groups.size());
    if (groups.substr(0, end) == group) return true;
    groups.remove_prefix(std::min(end + 1, groups.size()));
  }
  return false;
}

}  // namespace berth::world
