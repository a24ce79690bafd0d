#include "pkg/api/validation/resources.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <glog/logging.h>

#include <algorithm>
#include "pkg/api/validation/per_release.h"
#include "pkg/util/status.h"

namespace berth::validation {
namespace {

// Parses "apps/v1 apps/v1beta2": groups and versions, where the core group is empty.
std::vector<GroupVersion> Versions(std::string_view text) {
  std::vector<GroupVersion> out;
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    size_t slash = one.find('/');
    GroupVersion& v = out.emplace_back();
    if (slash != std::string_view::npos) v.group = one.substr(0, slash);
    v.version = one.substr(slash == std::string_view::npos ? 0 : slash + 1);
  }
  return out;
}

constexpr size_t kLargeWindow = 1000;  // for pods and nodes, as in 1.10
constexpr size_t kEventWindow = 1000;  // events have no such window in 1.10; etcd keeps the last five minutes

// Returns those versions of a list (pkg/release/history.h) that a release serves.
std::string ServedIn(Version release, std::string_view versions) {
  std::string out;
  for (absl::string_view word : absl::StrSplit(util::ToAbsl(versions), ' ')) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(word, absl::MaxSplits('@', 1));
    const std::pair<absl::string_view, absl::string_view> span = absl::StrSplit(parts.second, absl::MaxSplits('-', 1));
    int since = 0, until = 255;
    CHECK(span.first.empty() || absl::SimpleAtoi(span.first, &since));
    CHECK(span.second.empty() || absl::SimpleAtoi(span.second, &until));
    const release::Span served = {{static_cast<uint8_t>(since)}, {static_cast<uint8_t>(until)}};
    if (served.Has(release)) absl::StrAppend(&out, out.empty() ? "" : " ", parts.first);
  }
  return out;
}

// Collects the resources of a release.
class Maker {
 public:
  explicit Maker(Version release) : release_(release) {}
  Version release() const { return release_; }
  std::vector<ResourceInfo> Take() { return std::move(all_); }

  // The reference is valid until the next call.
  ResourceInfo& Add(std::string_view resource, std::string_view kind, std::string_view versions) {
    ResourceInfo& r = all_.emplace_back();
    r.release = release_;
    r.resource = resource;
    r.kind = kind;
    r.versions = Versions(ServedIn(release_, versions));
    r.type = &TypeOf(kind, release_);
    r.storage_key = resource;
    return r;
  }
  ResourceInfo& AddClusterWide(std::string_view resource, std::string_view kind, std::string_view versions) {
    ResourceInfo& r = Add(resource, kind, versions);
    r.namespaced = false;
    return r;
  }

 private:
  Version release_;
  std::vector<ResourceInfo> all_;
};

// NOLINT(readability-function-size): a table of resources.
void AddCore(Maker* m) {
  auto add = [&](auto... args) -> ResourceInfo& { return m->Add(args...); };
  ResourceInfo& configmaps = add("configmaps", "ConfigMap", "v1");
  configmaps.short_names = {"cm"};

  ResourceInfo& endpoints = add("endpoints", "Endpoints", "v1");
  endpoints.short_names = {"ep"};
  endpoints.storage_key = "services/endpoints";
  endpoints.create_on_update = true;

  ResourceInfo& events = add("events", "Event", kEventVersions);
  if (events.versions.size() > 1) events.other_type = &TypeOf("EventsGroupEvent", m->release());
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

  ResourceInfo& namespaces = add("namespaces", "Namespace", "v1");
  namespaces.namespaced = false;
  namespaces.subresources = {"finalize", "status"};
  namespaces.short_names = {"ns"};
  namespaces.selectable_fields = {"status.phase"};
  namespaces.answers_object = true;

  ResourceInfo& nodes = add("nodes", "Node", "v1");
  nodes.namespaced = false;
  nodes.subresources = {"status"};
  nodes.short_names = {"no"};
  nodes.storage_key = "minions";
  nodes.window = kLargeWindow;
  nodes.indexed_fields = nodes.selectable_fields = {"spec.unschedulable"};

  ResourceInfo& claims = add("persistentvolumeclaims", "PersistentVolumeClaim", "v1");
  claims.subresources = {"status"};
  claims.short_names = {"pvc"};
  claims.answers_object = true;

  ResourceInfo& volumes = add("persistentvolumes", "PersistentVolume", "v1");
  volumes.namespaced = false;
  volumes.subresources = {"status"};
  volumes.short_names = {"pv"};
  volumes.answers_object = true;

  ResourceInfo& pods = add("pods", "Pod", "v1");
  pods.subresources = {"binding", "eviction", "status"};
  if (kResizes.Has(m->release())) pods.subresources.push_back("resize");
  pods.short_names = {"po"};
  pods.in_all = true;
  pods.window = kLargeWindow;
  pods.indexed_fields = pods.selectable_fields = {"spec.nodeName",      "status.phase", "spec.schedulerName",
                                                  "spec.restartPolicy", "status.podIP", "status.nominatedNodeName"};
  pods.answers_object = true;
  pods.has_generation = kGenerationOfPods.Has(m->release());

  ResourceInfo& controllers = add("replicationcontrollers", "ReplicationController", "v1");
  controllers.subresources = {"scale", "status"};
  controllers.short_names = {"rc"};
  controllers.in_all = true;
  controllers.storage_key = "controllers";
  controllers.selectable_fields = {"status.replicas"};
  controllers.has_generation = true;
  controllers.orphaning = {"v1"};

  ResourceInfo& services = add("services", "Service", "v1");
  services.subresources = {"status"};
  services.short_names = {"svc"};
  services.in_all = true;
  services.storage_key = "services/specs";
  services.create_on_update = true;

  add("limitranges", "LimitRange", "v1").short_names = {"limits"};
  ResourceInfo& quotas = add("resourcequotas", "ResourceQuota", "v1");
  quotas.subresources = {"status"};
  quotas.short_names = {"quota"};

  add("secrets", "Secret", "v1").selectable_fields = {"type"};
  ResourceInfo& accounts = add("serviceaccounts", "ServiceAccount", "v1");
  accounts.short_names = {"sa"};
  if (kTokenRequests.Has(m->release())) accounts.subresources = {"token"};
}

void AddWorkloads(Maker* m) {
  ResourceInfo& deployments = m->Add("deployments", "Deployment", kDeploymentVersions);
  deployments.subresources = {"scale", "status"};
  deployments.short_names = {"deploy"};
  deployments.in_all = true;
  deployments.has_generation = true;
  deployments.orphaning = {"extensions/v1beta1", "apps/v1beta1", "apps/v1beta2"};

  ResourceInfo& sets = m->Add("replicasets", "ReplicaSet", kReplicaSetVersions);
  sets.subresources = {"scale", "status"};
  sets.short_names = {"rs"};
  sets.in_all = true;
  sets.has_generation = true;
  sets.orphaning = {"extensions/v1beta1", "apps/v1beta2"};
  sets.selectable_fields = {"status.replicas"};

  ResourceInfo& stateful = m->Add("statefulsets", "StatefulSet", kStatefulSetVersions);
  stateful.subresources = {"scale", "status"};
  stateful.short_names = {"sts"};
  stateful.in_all = true;
  stateful.has_generation = true;
  stateful.orphaning = {"apps/v1beta1", "apps/v1beta2"};

  ResourceInfo& daemons = m->Add("daemonsets", "DaemonSet", kDaemonSetVersions);
  daemons.subresources = {"status"};
  daemons.short_names = {"ds"};
  daemons.in_all = true;
  daemons.has_generation = true;
  ResourceInfo& jobs = m->Add("jobs", "Job", "batch/v1");
  jobs.subresources = {"status"};
  jobs.in_all = true;
  jobs.has_generation = kGenerationOfJobs.Has(m->release());
  jobs.orphaning = {"batch/v1"};
  if (kCronJobs.Has(m->release())) {
    ResourceInfo& cron = m->Add("cronjobs", "CronJob", "batch/v1");
    cron.subresources = {"status"};
    cron.short_names = {"cj"};
    cron.in_all = true;
    cron.has_generation = true;
  }
  m->Add("controllerrevisions", "ControllerRevision", "apps/v1");
  ResourceInfo& autoscalers = m->Add("horizontalpodautoscalers", "HorizontalPodAutoscaler", kAutoscalerVersions);
  const TypeDef& first = TypeOf("AutoscalingV1Autoscaler", m->release());
  (autoscalers.versions.size() > 1 ? autoscalers.other_type : autoscalers.type) = &first;
  autoscalers.subresources = {"status"};
  autoscalers.short_names = {"hpa"};
  autoscalers.in_all = true;
  if (kEndpointSlices.Has(m->release())) m->Add("endpointslices", "EndpointSlice", "discovery.k8s.io/v1");

  ResourceInfo& budgets = m->Add("poddisruptionbudgets", "PodDisruptionBudget", kBudgetVersions);
  budgets.subresources = {"status"};
  budgets.short_names = {"pdb"};
  budgets.has_generation = true;
  budgets.unconditional_update = false;

  ResourceInfo& priorities = m->AddClusterWide("priorityclasses", "PriorityClass", kPriorityClassVersions);
  priorities.short_names = {"pc"};
  if (!kRuntimeClasses.Has(m->release())) return;
  m->AddClusterWide("runtimeclasses", "RuntimeClass", kRuntimeClassVersions);
}

void AddStorage(Maker* m) {
  constexpr std::string_view kV1 = "storage.k8s.io/v1";
  ResourceInfo& classes = m->AddClusterWide("storageclasses", "StorageClass", kStorageClassVersions);
  classes.short_names = {"sc"};
  classes.answers_object = true;
  if (!kVolumeAttachments.Has(m->release())) return;
  if (kCsiNodes.Has(m->release())) m->AddClusterWide("csinodes", "CSINode", kV1).answers_object = true;
  if (kCsiDrivers.Has(m->release())) m->AddClusterWide("csidrivers", "CSIDriver", kV1).answers_object = true;
  if (kCsiCapacities.Has(m->release())) m->Add("csistoragecapacities", "CSIStorageCapacity", kV1);
  ResourceInfo& attachments = m->AddClusterWide("volumeattachments", "VolumeAttachment", kV1);
  attachments.subresources = {"status"};
  attachments.answers_object = true;
}

// Claims of devices, and what they are allocated from (dynamic resource allocation).
void AddDevices(Maker* m) {
  if (!kDevices.Has(m->release())) return;
  constexpr std::string_view kV1 = "resource.k8s.io/v1";
  ResourceInfo& claims = m->Add("resourceclaims", "ResourceClaim", kV1);
  claims.subresources = {"status"};
  claims.answers_object = true;
  m->Add("resourceclaimtemplates", "ResourceClaimTemplate", kV1).answers_object = true;
  ResourceInfo& slices = m->AddClusterWide("resourceslices", "ResourceSlice", kV1);
  slices.selectable_fields = {"spec.nodeName", "spec.driver"};
  slices.has_generation = true;
  slices.answers_object = true;
  ResourceInfo& classes = m->AddClusterWide("deviceclasses", "DeviceClass", kV1);
  classes.has_generation = true;
  classes.answers_object = true;
}

void AddNetworking(Maker* m) {
  if (!kIngresses.Has(m->release())) return;
  constexpr std::string_view kV1 = "networking.k8s.io/v1";
  ResourceInfo& ingresses = m->Add("ingresses", "Ingress", kV1);
  ingresses.subresources = {"status"};
  ingresses.short_names = {"ing"};
  ingresses.has_generation = true;
  m->AddClusterWide("ingressclasses", "IngressClass", kV1).has_generation = true;
  ResourceInfo& policies = m->Add("networkpolicies", "NetworkPolicy", kV1);
  policies.short_names = {"netpol"};
  policies.has_generation = true;
}

std::vector<ResourceInfo> Make(Version release) {
  Maker m(release);
  AddCore(&m);
  AddWorkloads(&m);
  AddStorage(&m);
  AddDevices(&m);
  AddNetworking(&m);
  m.Add("leases", "Lease", kLeaseVersions).unconditional_update = !kLeasesNeedVersions.Has(release);
  m.Add("roles", "Role", kRbacVersions);
  m.Add("rolebindings", "RoleBinding", kRbacVersions);
  m.AddClusterWide("clusterroles", "ClusterRole", kRbacVersions);
  m.AddClusterWide("clusterrolebindings", "ClusterRoleBinding", kRbacVersions);
  return m.Take();
}

std::vector<Group> GroupsOf(Version release) {
  std::vector<Group> out;
  bool name = true;
  std::string word;
  for (char c : absl::StrCat(std::string(release::At(kGroups, release)), " ")) {
    if (c != '/' && c != ' ') {
      word.push_back(c);
      continue;
    }
    if (name) {
      out.push_back({word, {}});
    } else {
      out.back().versions.push_back(word);
    }
    name = c == ' ';
    word.clear();
  }
  return out;
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

Catalog::Catalog(Version release) : release_(release), resources_(Make(release)), groups_(GroupsOf(release)) {}

const Catalog& Catalog::Of(Version release) {
  static const auto* catalogs = new PerRelease<Catalog>;
  return catalogs->Of(release);
}

const ResourceInfo* Catalog::Find(std::string_view group, std::string_view version, std::string_view resource) const {
  for (const ResourceInfo& r : resources_) {
    if (r.resource == resource && r.VersionIndex(group, version) >= 0) return &r;
  }
  return nullptr;
}

const ResourceInfo* Catalog::FindKind(std::string_view api_version, std::string_view kind) const {
  for (const ResourceInfo& r : resources_) {
    if (r.kind != kind) continue;
    for (const GroupVersion& v : r.versions) {
      if (v.Text() == api_version) return &r;
    }
  }
  return nullptr;
}

const ResourceInfo& Catalog::Core(std::string_view resource) const {
  const ResourceInfo* r = Find("", "v1", resource);
  CHECK(r != nullptr) << "no core resource named " << resource;
  return *r;
}

}  // namespace berth::validation
