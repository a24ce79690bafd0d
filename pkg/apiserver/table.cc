// The columns that `kubectl get` shows for each kind. Names, types and descriptions are those of 1.10's printers, with
// the columns of later releases.
#include "pkg/apiserver/table.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "pkg/api/json_writer.h"
#include "pkg/apiserver/table_rows.h"
#include "pkg/store/api_types.h"

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
};
constexpr Column Of(std::string_view name, release::Span span, int priority = 0) {
  return {name, "string", "", "", priority, span};
}
constexpr Column Wide(std::string_view name, release::Span span = {}) {
  return Of(name, span, 1);
}
constexpr Column Number(std::string_view name, release::Span span = {}) {
  return {name, "integer", "", "", 0, span};
}

struct Printer {
  std::vector<Column> columns;
  void (*row)(const Value& v, absl::Time now, Row* out);
};

constexpr Column kNameColumn{"Name", "string", "name", kName};
constexpr Column kAgeColumn{"Age", "string", "", kCreated};
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
          {"Created At", "date", "", kCreated, 0, kNoRolesOfBindings},
          Of("Role", kRolesOfBindings),
          {"Age", "string", "", kCreated, 0, kRolesOfBindings},
          Wide("Users", kRolesOfBindings),
          Wide("Groups", kRolesOfBindings),
          Wide("ServiceAccounts", kRolesOfBindings)};
}

using Printers = std::map<std::string_view, Printer>;

// Columns of today's servers that 1.10 did not have are without descriptions.
Printers PrintersOfWorkloads() {
  const std::vector<Column> replicas = {kNameColumn, Number("Desired"), Number("Current"), Number("Ready"),
                                        kAgeColumn,  kContainers,       kImages,           kSelector};
  return {
      {"Pod", {PodColumns(), PodRow}},
      {"Node", {NodeColumns(), NodeRow}},
      {"Event", {EventColumns(), EventRow}},
      {"Event with a series", {SeriesColumns(), RowOfSeries}},
      {"Service",
       {{kNameColumn, {"Type"}, {"Cluster-IP"}, {"External-IP"}, {"Port(s)"}, kAgeColumn, Wide("Selector")},
        ServiceRow}},
      {"ReplicationController", {replicas, ReplicaRow}},
      {"ReplicaSet", {replicas, ReplicaRow}},
      {"StatefulSet",
       {{kNameColumn, Of("Ready", kReady), Of("Desired", kDesired), Of("Current", kDesired), kAgeColumn, kContainers,
         kImages},
        StatefulSetRow}},
      {"Deployment",
       {{kNameColumn,
         Of("Ready", kReady),
         Of("Desired", kDesired),
         Of("Current", kDesired),
         {"Up-to-date"},
         {"Available"},
         kAgeColumn,
         kContainers,
         kImages,
         kSelector},
        DeploymentRow}},
      {"DaemonSet",
       {{kNameColumn,
         Number("Desired"),
         Number("Current"),
         Number("Ready"),
         Number("Up-to-date"),
         Number("Available"),
         {"Node Selector"},
         kAgeColumn,
         kContainers,
         kImages,
         kSelector},
        DaemonSetRow}},
      {"Job", {JobColumns(), JobRow}},
      {"CronJob",
       {{kNameColumn,
         {"Schedule"},
         Of("Timezone", history::kTimeZoneColumn),
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
  using history::kAttributesClassColumn, history::kVolumeModeColumn, history::kColumnsOfStorageClasses;
  return {
      {"PersistentVolume",
       {{kNameColumn,
         {"Capacity"},
         {"Access Modes"},
         {"Reclaim Policy"},
         {"Status"},
         {"Claim"},
         {"StorageClass"},
         Of("VolumeAttributesClass", kAttributesClassColumn),
         {"Reason"},
         kAgeColumn,
         Wide("VolumeMode", kVolumeModeColumn)},
        VolumeRow}},
      {"PersistentVolumeClaim",
       {{kNameColumn,
         {"Status"},
         {"Volume"},
         {"Capacity"},
         {"Access Modes"},
         {"StorageClass"},
         Of("VolumeAttributesClass", kAttributesClassColumn),
         kAgeColumn,
         Wide("VolumeMode", kVolumeModeColumn)},
        ClaimRow}},
      {"StorageClass",
       {{kNameColumn,
         {"Provisioner"},
         Of("ReclaimPolicy", kColumnsOfStorageClasses),
         Of("VolumeBindingMode", kColumnsOfStorageClasses),
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
         Number("Value"),
         {"Global-Default"},
         kAgeColumn,
         Of("PreemptionPolicy", history::kPreemptionPolicyColumn)},
        PriorityClassRow}},
      {"ResourceQuota",
       {{kNameColumn, Of("Request", kColumnsOfQuotas), Of("Limit", kColumnsOfQuotas), kAgeColumn}, QuotaRow}},
      {"Secret", {{kNameColumn, {"Type"}, Number("Data"), kAgeColumn}, SecretRow}},
      {"ServiceAccount", {{kNameColumn, Number("Secrets"), kAgeColumn}, ServiceAccountRow}},
      {"Lease", {{kNameColumn, {"Holder"}, kAgeColumn}, LeaseRow}},
      {"RuntimeClass", {{kNameColumn, {"Handler"}, kAgeColumn}, RuntimeClassRow}},
      {"ControllerRevision", {{kNameColumn, {"Controller"}, Number("Revision"), kAgeColumn}, RevisionRow}},
      {"HorizontalPodAutoscaler",
       {{kNameColumn, {"Reference"}, {"Targets"}, {"MinPods"}, {"MaxPods"}, {"Replicas"}, kAgeColumn}, AutoscalerRow}},
      {"EndpointSlice", {{kNameColumn, {"AddressType"}, {"Ports"}, {"Endpoints"}, kAgeColumn}, EndpointSliceRow}},
      {"Ingress", {{kNameColumn, {"Class"}, {"Hosts"}, {"Address"}, {"Ports"}, kAgeColumn}, IngressRow}},
      {"IngressClass", {{kNameColumn, {"Controller"}, {"Parameters"}, kAgeColumn}, IngressClassRow}},
      {"NetworkPolicy", {{kNameColumn, {"Pod-Selector"}, kAgeColumn}, NetworkPolicyRow}},
      {"PodDisruptionBudget",
       {{kNameColumn, {"Min Available"}, {"Max Unavailable"}, Number("Allowed Disruptions"), kAgeColumn}, BudgetRow}},
      {"ConfigMap", {{kNameColumn, {"Data"}, kAgeColumn}, ConfigMapRow}},
      {"Endpoints", {{kNameColumn, {"Endpoints"}, kAgeColumn}, EndpointsRow}},
      {"Namespace", {{kNameColumn, {"Status"}, kAgeColumn}, NamespaceRow}},
      {"ResourceClaim", {{kNameColumn, {"State"}, kAgeColumn}, DeviceClaimRow}},
      {"ResourceClaimTemplate", {{kNameColumn, kAgeColumn}, NameAndAgeRow}},
      {"DeviceClass", {{kNameColumn, kAgeColumn}, NameAndAgeRow}},
      {"ResourceSlice", {{kNameColumn, {"Node"}, {"Driver"}, {"Pool"}, kAgeColumn}, SliceRow}},
      {"RoleBinding", {BindingColumns(), RoleBindingRow}},
      {"ClusterRoleBinding", {BindingColumns(), RoleBindingRow}},
      // All kinds that have no entry of their own.
      {"", {{kNameColumn, {"Created At", "date", "", kCreated}}, NameAndTimeRow}},
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
    printer.row(v, now, &row);
    j.Object().Key("cells").Array();
    for (size_t k = 0; k < row.cells.size(); ++k) {
      if (shown[k]) AppendJson(row.cells[k], j.Place());
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
