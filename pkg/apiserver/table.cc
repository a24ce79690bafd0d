// The columns that `kubectl get` shows for each kind. Names, types and descriptions are those of 1.10's printers, with
// the columns of later releases.
#include "pkg/apiserver/table.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "pkg/api/json_writer.h"
#include "pkg/apiserver/table_cells.h"
#include "pkg/apiserver/table_rows.h"
#include "pkg/store/api_types.h"
#include "pkg/util/status.h"

namespace berth::apiserver {
namespace {

constexpr std::string_view kName =
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a "
    "client to request the generation of an appropriate name automatically. Name is primarily intended for creation "
    "idempotence and configuration definition. Cannot be updated. More info: "
    "http://kubernetes.io/docs/user-guide/identifiers#names";
constexpr std::string_view kCreated =
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed "
    "to "
    "be set in happens-before order across separate operations. Clients may not set this value. It is represented in "
    "RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: "
    "https://git.k8s.io/community/contributors/devel/api-conventions.md#metadata";

namespace history = release::history;

constexpr release::Span Before(const release::Span& span) {
  return {.until = span.since};
}
constexpr release::Span kReady = history::kReadyOfWanted, kDesired = Before(kReady);
using history::kHumanAges;
constexpr release::Span kRestartsHaveAges = history::kRestartsHaveAges, kPlainRestarts = Before(kRestartsHaveAges);
constexpr release::Span kRolesOfBindings = history::kRolesOfBindings, kNoRolesOfBindings = Before(kRolesOfBindings);

struct Column {
  std::string_view name, type = "string", format = "", description = "";
  int priority = 0;
  release::Span span{};  // the releases that have it
  // The member that it shows, and what stands for none. Without a path, the printer's `row` writes the cell.
  std::string_view path = {}, otherwise = {};
};
constexpr Column Of(std::string_view name, release::Span span, int priority = 0) {
  return {name, "string", "", "", priority, span};
}
constexpr Column Wide(std::string_view name, release::Span span = {}) {
  return Of(name, span, 1);
}
constexpr Column Number(std::string_view name, std::string_view path = {}) {
  return {name, "integer", "", "", 0, {}, path};
}
constexpr Column Member(std::string_view name, std::string_view path, std::string_view otherwise = "",
                        release::Span span = {}, int priority = 0) {
  return {name, "string", "", "", priority, span, path, otherwise};
}

struct Printer {
  std::vector<Column> columns;
  void (*row)(const Value& v, absl::Time now, Row* out) = nullptr;  // null: all columns have paths
};

constexpr std::string_view kTimeOfCreation = "metadata.creationTimestamp";
constexpr Column kNameColumn{"Name", "string", "name", kName, 0, {}, "metadata.name"};
constexpr Column kAgeColumn{"Age", "string", "", kCreated, 0, {}, kTimeOfCreation};
constexpr Column kContainers{"Containers", "string", "", "Names of each container in the template.", 1};
constexpr Column kImages{"Images", "string", "", "Images referenced by each container in the template.", 1};
constexpr Column kSelector{"Selector", "string", "", "Selector is a label query over pods.", 1};

std::vector<Column> PodColumns() {
  constexpr std::string_view kRestarted = "The number of times the containers in this pod have been restarted.";
  return {kNameColumn,
          {"Ready", "string", "", "The aggregate readiness state of this pod for accepting traffic."},
          {"Status", "string", "", "The aggregate status of the containers in this pod."},
          {"Restarts", "integer", "", kRestarted, 0, kPlainRestarts},
          {"Restarts", "string", "", kRestarted, 0, kRestartsHaveAges},
          kAgeColumn,
          {"IP", "string", "",
           "IP address allocated to the pod. Routable at least within the cluster. Empty if not yet allocated.", 1},
          {"Node", "string", "",
           "NodeName is a request to schedule this pod onto a specific node. If it is non-empty, the scheduler simply "
           "schedules this pod onto that node, assuming that it fits resource requirements.",
           1},
          Wide("Nominated Node", history::kNominatedNodeColumn),
          Wide("Readiness Gates", history::kReadinessGatesColumn)};
}

std::vector<Column> NodeColumns() {
  return {kNameColumn,
          {"Status", "string", "", "The status of the node"},
          {"Roles", "string", "", "The roles of the node"},
          kAgeColumn,
          {"Version", "string", "", "Kubelet Version reported by the node."},
          Wide("Internal-IP", history::kInternalIpColumn),
          {"External-IP", "string", "",
           "List of addresses reachable to the node. Queried from cloud provider, if available. More info: "
           "https://kubernetes.io/docs/concepts/nodes/node/#addresses",
           1},
          {"OS-Image", "string", "",
           "OS Image reported by the node from /etc/os-release (e.g. Debian GNU/Linux 7 (wheezy)).", 1},
          {"Kernel-Version", "string", "",
           "Kernel Version reported by the node from 'uname -r' (e.g. 3.16.0-0.bpo.4-amd64).", 1},
          {"Container-Runtime", "string", "",
           "ContainerRuntime Version reported by the node through runtime remote API (e.g. docker://1.5.0).", 1}};
}

std::vector<Column> EventColumns() {
  return {{"Last Seen", "string", "", "The time at which the most recent occurrence of this event was recorded."},
          {"First Seen", "string", "", "The time at which the event was first recorded."},
          {"Count", "string", "", "The number of times this event has occurred."},
          kNameColumn,
          {"Kind", "string", "", "Kind of the referent."},
          {"Subobject", "string", "", "The part of the object that the event is about."},
          {"Type", "string", "", "Type of this event (Normal, Warning)."},
          {"Reason", "string", "", "Why the event happened, in one word."},
          {"Source", "string", "", "The component reporting this event."},
          {"Message", "string", "", "A human-readable description of what happened."}};
}

std::vector<Column> SeriesColumns() {
  return {{"Last Seen", "string", "", "When it was seen last."},
          {"Type", "string", "", "Normal or Warning."},
          {"Reason", "string", "", "Why it happened, in one word."},
          {"Object", "string", "", "What it is about."},
          {"Subobject", "string", "", "The part of the object that it is about.", 1},
          {"Source", "string", "", "Who reported it.", 1},
          {"Message", "string", "", "What happened."},
          {"First Seen", "string", "", "When it was seen first.", 1},
          {"Count", "string", "", "How often it was seen.", 1},
          {"Name", "string", "name", kName, 1}};
}

std::vector<Column> JobColumns() {
  constexpr release::Span kSince = history::kColumnsOfJobs, kBefore = Before(kSince);
  return {kNameColumn,
          Of("Desired", kBefore),
          Of("Successful", kBefore),
          Of("Status", history::kJobStatusColumn),
          Of("Completions", kSince),
          Of("Duration", kSince),
          kAgeColumn,
          kContainers,
          kImages,
          kSelector};
}

std::vector<Column> BindingColumns() {
  return {kNameColumn,
          {"Created At", "date", "", kCreated, 0, kNoRolesOfBindings, kTimeOfCreation},
          Of("Role", kRolesOfBindings),
          {"Age", "string", "", kCreated, 0, kRolesOfBindings, kTimeOfCreation},
          Wide("Users", kRolesOfBindings),
          Wide("Groups", kRolesOfBindings),
          Wide("ServiceAccounts", kRolesOfBindings)};
}

using Printers = std::map<std::string_view, Printer>;

// Columns of today's servers that 1.10 did not have are without descriptions.
Printers PrintersOfWorkloads() {
  const std::vector<Column> replicas = {kNameColumn,
                                        Number("Desired", "spec.replicas"),
                                        Number("Current", "status.replicas"),
                                        Number("Ready", "status.readyReplicas"),
                                        kAgeColumn,
                                        kContainers,
                                        kImages,
                                        kSelector};
  return {
      {"Pod", {PodColumns(), PodRow}},
      {"Node", {NodeColumns(), NodeRow}},
      {"Event", {EventColumns(), EventRow}},
      {"Event with a series", {SeriesColumns(), RowOfSeries}},
      {"Service",
       {{kNameColumn,
         Member("Type", "spec.type"),
         Member("Cluster-IP", "spec.clusterIP", "<none>"),
         {"External-IP"},
         {"Port(s)"},
         kAgeColumn,
         Wide("Selector")},
        ServiceRow}},
      {"ReplicationController", {replicas, ReplicaRow}},
      {"ReplicaSet", {replicas, ReplicaRow}},
      {"StatefulSet",
       {{kNameColumn, Of("Ready", kReady), Member("Desired", "spec.replicas", "0", kDesired),
         Member("Current", "status.replicas", "0", kDesired), kAgeColumn, kContainers, kImages},
        StatefulSetRow}},
      {"Deployment",
       {{kNameColumn, Of("Ready", kReady), Member("Desired", "spec.replicas", "0", kDesired),
         Member("Current", "status.replicas", "0", kDesired), Member("Up-to-date", "status.updatedReplicas", "0"),
         Member("Available", "status.availableReplicas", "0"), kAgeColumn, kContainers, kImages, kSelector},
        DeploymentRow}},
      {"DaemonSet",
       {{kNameColumn,
         Number("Desired", "status.desiredNumberScheduled"),
         Number("Current", "status.currentNumberScheduled"),
         Number("Ready", "status.numberReady"),
         Number("Up-to-date", "status.updatedNumberScheduled"),
         Number("Available", "status.numberAvailable"),
         {"Node Selector"},
         kAgeColumn,
         kContainers,
         kImages,
         kSelector},
        DaemonSetRow}},
      {"Job", {JobColumns(), JobRow}},
      {"CronJob",
       {{kNameColumn,
         Member("Schedule", "spec.schedule"),
         Member("Timezone", "spec.timeZone", "<none>", history::kTimeZoneColumn),
         {"Suspend"},
         Number("Active"),
         {"Last Schedule"},
         kAgeColumn,
         kContainers,
         kImages,
         kSelector},
        CronJobRow}},
  };
}

Printers PrintersOfVolumes() {
  using history::kColumnsOfStorageClasses;
  constexpr Column kClass = Member("StorageClass", "spec.storageClassName");
  constexpr Column kAttributes =
      Member("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>", history::kAttributesClassColumn);
  constexpr Column kMode = Member("VolumeMode", "spec.volumeMode", "<unset>", history::kVolumeModeColumn, 1);
  return {
      {"PersistentVolume",
       {{kNameColumn,
         Member("Capacity", "spec.capacity.storage"),
         {"Access Modes"},
         Member("Reclaim Policy", "spec.persistentVolumeReclaimPolicy"),
         {"Status"},
         {"Claim"},
         kClass,
         kAttributes,
         Member("Reason", "status.reason"),
         kAgeColumn,
         kMode},
        VolumeRow}},
      {"PersistentVolumeClaim",
       {{kNameColumn,
         {"Status"},
         Member("Volume", "spec.volumeName"),
         {"Capacity"},
         {"Access Modes"},
         kClass,
         kAttributes,
         kAgeColumn,
         kMode},
        ClaimRow}},
      {"StorageClass",
       {{{"Name", "string", "name", kName},  // says which class is the default
         Member("Provisioner", "provisioner"),
         Member("ReclaimPolicy", "reclaimPolicy", "Delete", kColumnsOfStorageClasses),
         Member("VolumeBindingMode", "volumeBindingMode", "Immediate", kColumnsOfStorageClasses),
         Of("AllowVolumeExpansion", kColumnsOfStorageClasses),
         kAgeColumn},
        StorageClassRow}},
  };
}

Printers PrintersOfOthers() {
  using history::kColumnsOfQuotas;
  return {
      {"PriorityClass",
       {{kNameColumn,
         Number("Value", "value"),
         {"Global-Default"},
         kAgeColumn,
         Member("PreemptionPolicy", "preemptionPolicy", "PreemptLowerPriority", history::kPreemptionPolicyColumn)},
        PriorityClassRow}},
      {"ResourceQuota",
       {{kNameColumn, Of("Request", kColumnsOfQuotas), Of("Limit", kColumnsOfQuotas), kAgeColumn}, QuotaRow}},
      {"Secret", {{kNameColumn, Member("Type", "type"), Number("Data"), kAgeColumn}, SecretRow}},
      {"ServiceAccount", {{kNameColumn, Number("Secrets"), kAgeColumn}, ServiceAccountRow}},
      {"Lease", {{kNameColumn, Member("Holder", "spec.holderIdentity"), kAgeColumn}}},
      {"RuntimeClass", {{kNameColumn, {"Handler"}, kAgeColumn}, RuntimeClassRow}},
      {"ControllerRevision", {{kNameColumn, {"Controller"}, Number("Revision", "revision"), kAgeColumn}, RevisionRow}},
      {"HorizontalPodAutoscaler",
       {{kNameColumn,
         {"Reference"},
         {"Targets"},
         Member("MinPods", "spec.minReplicas", "<unset>"),
         Member("MaxPods", "spec.maxReplicas", "0"),
         Member("Replicas", "status.currentReplicas", "0"),
         kAgeColumn},
        AutoscalerRow}},
      {"EndpointSlice",
       {{kNameColumn, Member("AddressType", "addressType"), {"Ports"}, {"Endpoints"}, kAgeColumn}, EndpointSliceRow}},
      {"Ingress",
       {{kNameColumn,
         Member("Class", "spec.ingressClassName", "<none>"),
         {"Hosts"},
         {"Address"},
         {"Ports"},
         kAgeColumn},
        IngressRow}},
      {"IngressClass",
       {{kNameColumn, Member("Controller", "spec.controller"), {"Parameters"}, kAgeColumn}, IngressClassRow}},
      {"NetworkPolicy", {{kNameColumn, {"Pod-Selector"}, kAgeColumn}, NetworkPolicyRow}},
      {"PodDisruptionBudget",
       {{kNameColumn, Member("Min Available", "spec.minAvailable", "N/A"),
         Member("Max Unavailable", "spec.maxUnavailable", "N/A"),
         Number("Allowed Disruptions", "status.disruptionsAllowed"), kAgeColumn}}},
      {"ConfigMap", {{kNameColumn, {"Data"}, kAgeColumn}, ConfigMapRow}},
      {"Endpoints", {{kNameColumn, {"Endpoints"}, kAgeColumn}, EndpointsRow}},
      {"Namespace", {{kNameColumn, Member("Status", "status.phase"), kAgeColumn}}},
      {"ResourceClaim", {{kNameColumn, {"State"}, kAgeColumn}, DeviceClaimRow}},
      {"ResourceClaimTemplate", {{kNameColumn, kAgeColumn}}},
      {"DeviceClass", {{kNameColumn, kAgeColumn}}},
      {"ResourceSlice",
       {{kNameColumn, Member("Node", "spec.nodeName"), Member("Driver", "spec.driver"),
         Member("Pool", "spec.pool.name"), kAgeColumn}}},
      {"RoleBinding", {BindingColumns(), RoleBindingRow}},
      {"ClusterRoleBinding", {BindingColumns(), RoleBindingRow}},
      // All kinds that have no entry of their own.
      {"", {{kNameColumn, {"Created At", "date", "", kCreated, 0, {}, kTimeOfCreation}}}},
  };
}

const Printers& AllPrinters() {
  static const auto* all = [] {
    auto* printers = new Printers(PrintersOfWorkloads());
    printers->merge(PrintersOfVolumes());
    printers->merge(PrintersOfOthers());
    return printers;
  }();
  return *all;
}

}  // namespace

namespace {

constexpr int64_t kMinute = 60, kHour = 3600, kDay = 86400, kYear = 365 * kDay;

// Returns one unit alone: "119s" is "1m".
std::string ShortAge(int64_t s) {
  if (s < kMinute) return absl::StrCat(s, "s");
  if (s < kHour) return absl::StrCat(s / kMinute, "m");
  if (s < kDay) return absl::StrCat(s / kHour, "h");
  if (s < kYear) return absl::StrCat(s / kDay, "d");
  return absl::StrCat(s / kYear, "y");
}

// Returns two units where the first one is small: "119s", "2m5s", "3h40m", "2d1h" (duration.HumanDuration).
std::string HumanAge(int64_t s) {
  struct Range {
    int64_t until, unit, rest;  // a rest of 0: the unit alone
    const char *name, *rest_name;
  };
  static constexpr Range kRanges[] = {
      {2 * kMinute, 1, 0, "s", ""},          {10 * kMinute, kMinute, 1, "m", "s"}, {3 * kHour, kMinute, 0, "m", ""},
      {8 * kHour, kHour, kMinute, "h", "m"}, {2 * kDay, kHour, 0, "h", ""},        {8 * kDay, kDay, kHour, "d", "h"},
      {2 * kYear, kDay, 0, "d", ""},         {8 * kYear, kYear, kDay, "y", "d"},   {INT64_MAX, kYear, 0, "y", ""}};
  const Range& r = *std::find_if(std::begin(kRanges), std::end(kRanges), [&](const Range& x) { return s < x.until; });
  const int64_t rest = r.rest == 0 ? 0 : s % r.unit / r.rest;
  return absl::StrCat(s / r.unit, r.name, rest == 0 ? "" : absl::StrCat(rest, r.rest_name));
}

}  // namespace

std::string Age(std::string_view rfc3339, absl::Time now, Version release) {
  absl::Time t;
  std::string why;
  if (rfc3339.empty() || !absl::ParseTime(absl::RFC3339_full, std::string(rfc3339), &t, &why)) return "<unknown>";
  const int64_t s = absl::ToInt64Seconds(now - t);
  if (s < -1) return "<invalid>";
  if (s < 0) return "0s";
  return kHumanAges.Has(release) ? HumanAge(s) : ShortAge(s);
}

namespace {

// Returns the cell of a column with a path.
Value CellOf(const Column& c, const Value& v, absl::Time now, Version release) {
  const Value* m = &v;
  for (absl::string_view name : absl::StrSplit(util::ToAbsl(c.path), '.')) {
    m = m == nullptr ? nullptr : m->Find(util::FromAbsl(name));
  }
  const Value& member = validation::OrEmpty(m);
  if (c.type == "integer") return Value::Int(member.AsInt());
  if (c.name == kAgeColumn.name) return Value::String(Age(member.text(), now, release));
  return Value::String(cells::Or(member.text(), c.otherwise));
}

}  // namespace

std::string MakeTable(const ResourceInfo& r, size_t version, const std::vector<ObjectPtr>& objects,
                      std::string_view list_metadata, absl::Time now, RowObject object) {
  const bool by_series = r.kind == "Event" && history::kColumnsOfEvents.Has(r.release);
  auto it = AllPrinters().find(by_series ? "Event with a series" : std::string_view(r.kind));
  const Printer& printer = it != AllPrinters().end() ? it->second : AllPrinters().find("")->second;
  api::JsonWriter j;
  j.Object().Member("kind", "Table").Member("apiVersion", "meta.k8s.io/v1beta1").Key("metadata").Literal(list_metadata);
  j.Key("columnDefinitions").Array();
  std::vector<bool> shown;
  for (const Column& c : printer.columns) {
    shown.push_back(c.span.Has(r.release));
    if (!shown.back()) continue;
    j.Object().Member("name", c.name).Member("type", c.type).Member("format", c.format);
    j.Member("description", c.description).Member("priority", c.priority).End();
  }
  j.End().Key("rows").Array();
  for (const ObjectPtr& o : objects) {
    Value v = ToValue(r, version, *o);
    Row row{.release = r.release, .cells = {}};
    if (printer.row != nullptr) printer.row(v, now, &row);
    j.Object().Key("cells").Array();
    auto of_row = row.cells.begin();
    for (size_t k = 0; k < shown.size(); ++k) {
      const Column& c = printer.columns[k];
      const Value cell = c.path.empty() ? std::move(*of_row++) : CellOf(c, v, now, r.release);
      if (shown[k]) AppendJson(cell, j.Place());
    }
    j.End();
    if (object == RowObject::kWhole) {
      AppendObject(r, version, *o, "", j.Key("object").Place());
    } else if (object == RowObject::kMetadata) {
      j.Key("object").Object().Member("kind", "PartialObjectMetadata").Member("apiVersion", "meta.k8s.io/v1beta1");
      AppendJson(*v.Find("metadata"), j.Key("metadata").Place());
      j.End();
    }
    j.End();
  }
  return j.End().End().Finish();
}

}  // namespace berth::apiserver
