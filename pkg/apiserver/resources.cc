#include "pkg/apiserver/resources.h"

#include <algorithm>

namespace berth::apiserver {
namespace {

const GroupVersion kCore{"", "v1"};
constexpr size_t kLargeWindow = 1000;  // pods and nodes, as 1.10 has it
constexpr size_t kEventWindow = 1000;  // events have no such window in 1.10; etcd keeps the last five minutes

std::vector<ResourceInfo> Make() {
  std::vector<ResourceInfo> all;
  auto add = [&](std::string_view resource, std::string_view kind,
                 std::vector<GroupVersion> versions) -> ResourceInfo& {
    ResourceInfo& r = all.emplace_back();
    r.resource = resource;
    r.kind = kind;
    r.versions = std::move(versions);
    r.type = &TypeOf(kind);
    r.storage_key = resource;
    return r;
  };

  ResourceInfo& configmaps = add("configmaps", "ConfigMap", {kCore});
  configmaps.short_names = {"cm"};

  ResourceInfo& endpoints = add("endpoints", "Endpoints", {kCore});
  endpoints.short_names = {"ep"};
  endpoints.storage_key = "services/endpoints";
  endpoints.create_on_update = true;

  ResourceInfo& events = add("events", "Event", {kCore});
  events.short_names = {"ev"};
  events.create_on_update = true;
  events.window = kEventWindow;
  events.selectable_fields = {"involvedObject.kind",
                              "involvedObject.namespace",
                              "involvedObject.name",
                              "involvedObject.uid",
                              "involvedObject.apiVersion",
                              "involvedObject.resourceVersion",
                              "involvedObject.fieldPath",
                              "reason",
                              "source",
                              "type"};

  ResourceInfo& namespaces = add("namespaces", "Namespace", {kCore});
  namespaces.namespaced = false;
  namespaces.subresources = {"finalize", "status"};
  namespaces.short_names = {"ns"};
  namespaces.selectable_fields = {"status.phase"};
  namespaces.answers_object = true;

  ResourceInfo& nodes = add("nodes", "Node", {kCore});
  nodes.namespaced = false;
  nodes.subresources = {"status"};
  nodes.short_names = {"no"};
  nodes.storage_key = "minions";
  nodes.window = kLargeWindow;
  nodes.indexed_fields = nodes.selectable_fields = {"spec.unschedulable"};

  ResourceInfo& claims = add("persistentvolumeclaims", "PersistentVolumeClaim", {kCore});
  claims.subresources = {"status"};
  claims.short_names = {"pvc"};
  claims.answers_object = true;

  ResourceInfo& volumes = add("persistentvolumes", "PersistentVolume", {kCore});
  volumes.namespaced = false;
  volumes.subresources = {"status"};
  volumes.short_names = {"pv"};
  volumes.answers_object = true;

  ResourceInfo& pods = add("pods", "Pod", {kCore});
  pods.subresources = {"binding", "status"};
  pods.short_names = {"po"};
  pods.in_all = true;
  pods.window = kLargeWindow;
  pods.indexed_fields = pods.selectable_fields = {"spec.nodeName",      "status.phase", "spec.schedulerName",
                                                  "spec.restartPolicy", "status.podIP", "status.nominatedNodeName"};
  pods.answers_object = true;

  ResourceInfo& controllers = add("replicationcontrollers", "ReplicationController", {kCore});
  controllers.subresources = {"scale", "status"};
  controllers.short_names = {"rc"};
  controllers.in_all = true;
  controllers.storage_key = "controllers";
  controllers.selectable_fields = {"status.replicas"};
  controllers.has_generation = true;
  controllers.orphaning = {"v1"};

  ResourceInfo& services = add("services", "Service", {kCore});
  services.subresources = {"status"};
  services.short_names = {"svc"};
  services.in_all = true;
  services.storage_key = "services/specs";
  services.create_on_update = true;

  const std::vector<GroupVersion> apps = {
      {"apps", "v1"}, {"apps", "v1beta2"}, {"apps", "v1beta1"}, {"extensions", "v1beta1"}};
  ResourceInfo& deployments = add("deployments", "Deployment", apps);
  deployments.subresources = {"scale", "status"};
  deployments.short_names = {"deploy"};
  deployments.in_all = true;
  deployments.has_generation = true;
  deployments.orphaning = {"extensions/v1beta1", "apps/v1beta1", "apps/v1beta2"};

  ResourceInfo& sets =
      add("replicasets", "ReplicaSet", {{"extensions", "v1beta1"}, {"apps", "v1"}, {"apps", "v1beta2"}});
  sets.subresources = {"scale", "status"};
  sets.short_names = {"rs"};
  sets.in_all = true;
  sets.has_generation = true;
  sets.orphaning = {"extensions/v1beta1", "apps/v1beta2"};
  sets.selectable_fields = {"status.replicas"};

  ResourceInfo& stateful =
      add("statefulsets", "StatefulSet", {{"apps", "v1"}, {"apps", "v1beta2"}, {"apps", "v1beta1"}});
  stateful.subresources = {"scale", "status"};
  stateful.short_names = {"sts"};
  stateful.in_all = true;
  stateful.has_generation = true;
  stateful.orphaning = {"apps/v1beta1", "apps/v1beta2"};

  ResourceInfo& budgets = add("poddisruptionbudgets", "PodDisruptionBudget", {{"policy", "v1beta1"}, {"policy", "v1"}});
  budgets.subresources = {"status"};
  budgets.short_names = {"pdb"};
  budgets.has_generation = true;
  budgets.unconditional_update = false;

  ResourceInfo& priorities =
      add("priorityclasses", "PriorityClass",
          {{"scheduling.k8s.io", "v1alpha1"}, {"scheduling.k8s.io", "v1beta1"}, {"scheduling.k8s.io", "v1"}});
  priorities.namespaced = false;
  priorities.short_names = {"pc"};

  ResourceInfo& classes =
      add("storageclasses", "StorageClass", {{"storage.k8s.io", "v1"}, {"storage.k8s.io", "v1beta1"}});
  classes.namespaced = false;
  classes.short_names = {"sc"};
  classes.answers_object = true;

  add("leases", "Lease", {{"coordination.k8s.io", "v1"}, {"coordination.k8s.io", "v1beta1"}});
  return all;
}

}  // namespace

bool ResourceInfo::Has(std::string_view subresource) const {
  return std::find(subresources.begin(), subresources.end(), subresource) != subresources.end();
}

int ResourceInfo::VersionIndex(std::string_view group, std::string_view version) const {
  for (size_t i = 0; i < versions.size(); ++i) {
    if (versions[i].group == group && versions[i].version == version) return static_cast<int>(i);
  }
  return -1;
}

const std::vector<ResourceInfo>& Resources() {
  static const auto* all = new std::vector<ResourceInfo>(Make());
  return *all;
}

const ResourceInfo* FindResource(std::string_view group, std::string_view version, std::string_view resource) {
  for (const ResourceInfo& r : Resources()) {
    if (r.resource == resource && r.VersionIndex(group, version) >= 0) return &r;
  }
  return nullptr;
}

const ResourceInfo* FindKind(std::string_view api_version, std::string_view kind) {
  for (const ResourceInfo& r : Resources()) {
    if (r.kind != kind) continue;
    for (const GroupVersion& v : r.versions) {
      if (v.Text() == api_version) return &r;
    }
  }
  return nullptr;
}

const std::vector<Group>& Groups() {
  static const auto* groups = new std::vector<Group>{
      {"apps", {"v1", "v1beta2", "v1beta1"}}, {"extensions", {"v1beta1"}},
      {"policy", {"v1beta1", "v1"}},          {"scheduling.k8s.io", {"v1alpha1", "v1beta1", "v1"}},
      {"storage.k8s.io", {"v1", "v1beta1"}},  {"coordination.k8s.io", {"v1", "v1beta1"}}};
  return *groups;
}

}  // namespace berth::apiserver
