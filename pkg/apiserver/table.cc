// The columns that `kubectl get` shows for each kind. Names, types and descriptions are those of 1.10's printers. Cells
// are computed from the same fields but more simply in places: for example, the status of a pod ignores its init
// containers, signals and exit codes.
#include "pkg/apiserver/table.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <map>

#include "pkg/api/json.h"
#include "pkg/apiserver/api_types.h"

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

struct Column {
  std::string_view name, type = "string", format = "", description = "";
  int priority = 0;
};

struct Row {
  std::vector<Value> cells;
  void Text(std::string_view s) { cells.push_back(Value::String(s)); }
  void Number(int64_t n) { cells.push_back(Value::Int(n)); }
};

struct Printer {
  std::vector<Column> columns;
  void (*row)(const Value& v, absl::Time now, Row* out);
};

std::string_view Str(const Value& v, std::initializer_list<std::string_view> path) {
  const Value* at = v.At(path);
  return at != nullptr && !at->IsNull() ? std::string_view(at->text()) : std::string_view();
}
int64_t Int(const Value& v, std::initializer_list<std::string_view> path) {
  const Value* at = v.At(path);
  return at == nullptr ? 0 : at->AsInt();
}
std::string_view Or(std::string_view s, std::string_view otherwise) {
  return s.empty() ? otherwise : s;
}
std::string CreatedAge(const Value& v, absl::Time now) {
  return Age(Str(v, {"metadata", "creationTimestamp"}), now);
}

std::string JoinTexts(const Value* list) {
  if (list == nullptr) return "";
  std::vector<std::string> texts;
  for (const Value& e : list->items) texts.push_back(e.text());
  return absl::StrJoin(texts, ",");
}
std::string JoinMap(const Value* map) {
  if (map == nullptr || map->empty()) return "<none>";
  std::map<std::string, std::string> sorted;
  for (size_t i = 0; i < map->keys.size(); ++i) sorted[map->keys[i]] = map->items[i].text();
  return absl::StrJoin(sorted, ",", absl::PairFormatter("="));
}

void ContainersAndImages(const Value& v, Row* out) {
  std::vector<std::string> names, images;
  if (const Value* list = v.At({"spec", "template", "spec", "containers"})) {
    for (const Value& c : list->items) {
      names.emplace_back(c.Str("name"));
      images.emplace_back(c.Str("image"));
    }
  }
  out->Text(absl::StrJoin(names, ","));
  out->Text(absl::StrJoin(images, ","));
}

std::string SelectorText(const Value* selector) {
  return selector == nullptr ? "<none>" : JoinMap(selector->Find("matchLabels"));
}

void PodRow(const Value& v, absl::Time now, Row* out) {
  int64_t restarts = 0;
  size_t ready = 0;
  const Value* containers = v.At({"spec", "containers"});
  size_t total = containers == nullptr ? 0 : containers->items.size();
  std::string reason(Or(Str(v, {"status", "reason"}), Str(v, {"status", "phase"})));
  if (const Value* statuses = v.At({"status", "containerStatuses"})) {
    for (const Value& s : statuses->items) {
      restarts += Int(s, {"restartCount"});
      const Value* is_ready = s.Find("ready");
      if (is_ready != nullptr && is_ready->AsBool()) ++ready;
      std::string_view waiting = Str(s, {"state", "waiting", "reason"});
      std::string_view ended = Str(s, {"state", "terminated", "reason"});
      if (!waiting.empty()) {
        reason = waiting;
      } else if (!ended.empty()) {
        reason = ended;
      }
    }
  }
  if (v.At({"metadata", "deletionTimestamp"}) != nullptr) reason = "Terminating";
  out->Text(Str(v, {"metadata", "name"}));
  out->Text(absl::StrCat(ready, "/", total));
  out->Text(reason);
  out->Number(restarts);
  out->Text(CreatedAge(v, now));
  out->Text(Or(Str(v, {"status", "podIP"}), "<none>"));
  out->Text(Or(Str(v, {"spec", "nodeName"}), "<none>"));
}

void NodeRow(const Value& v, absl::Time now, Row* out) {
  std::string status = "Unknown";
  if (const Value* conditions = v.At({"status", "conditions"})) {
    for (const Value& c : conditions->items) {
      if (c.Str("type") == "Ready") status = c.Str("status") == "True" ? "Ready" : "NotReady";
    }
  }
  const Value* off = v.At({"spec", "unschedulable"});
  if (off != nullptr && off->AsBool()) status += ",SchedulingDisabled";
  std::vector<std::string> roles;
  if (const Value* labels = v.At({"metadata", "labels"})) {
    constexpr std::string_view kRole = "node-role.kubernetes.io/";
    for (size_t i = 0; i < labels->keys.size(); ++i) {
      if (labels->keys[i].starts_with(kRole) && labels->keys[i].size() > kRole.size()) {
        roles.push_back(labels->keys[i].substr(kRole.size()));
      } else if (labels->keys[i] == "kubernetes.io/role" && !labels->items[i].text().empty()) {
        roles.push_back(labels->items[i].text());
      }
    }
  }
  std::sort(roles.begin(), roles.end());
  std::string external = "<none>";
  if (const Value* addresses = v.At({"status", "addresses"})) {
    for (const Value& a : addresses->items) {
      if (a.Str("type") == "ExternalIP") external = a.Str("address");
    }
  }
  out->Text(Str(v, {"metadata", "name"}));
  out->Text(status);
  out->Text(roles.empty() ? "<none>" : absl::StrJoin(roles, ","));
  out->Text(CreatedAge(v, now));
  out->Text(Str(v, {"status", "nodeInfo", "kubeletVersion"}));
  out->Text(external);
  for (std::string_view key : {"osImage", "kernelVersion", "containerRuntimeVersion"})
    out->Text(Or(Str(v, {"status", "nodeInfo", key}), "<unknown>"));
}

void EventRow(const Value& v, absl::Time now, Row* out) {
  out->Text(Age(Str(v, {"lastTimestamp"}), now));
  out->Text(Age(Str(v, {"firstTimestamp"}), now));
  out->Number(Int(v, {"count"}));
  out->Text(Str(v, {"metadata", "name"}));
  out->Text(Str(v, {"involvedObject", "kind"}));
  out->Text(Str(v, {"involvedObject", "fieldPath"}));
  out->Text(Str(v, {"type"}));
  out->Text(Str(v, {"reason"}));
  std::string_view host = Str(v, {"source", "host"});
  out->Text(absl::StrCat(std::string(Str(v, {"source", "component"})), host.empty() ? "" : ", ", std::string(host)));
  out->Text(Str(v, {"message"}));
}

// Events are shown by their series and time, and named by what they are about.
constexpr release::Span kColumnsOfEvents = release::Since(15);

// A field of an event by its name in v1, or in events.k8s.io/v1.
const Value* EventField(const Value& v, std::initializer_list<std::string_view> core,
                        std::initializer_list<std::string_view> in_group) {
  const Value* found = v.At(core);
  return found != nullptr ? found : v.At(in_group);
}
std::string EventText(const Value& v, std::initializer_list<std::string_view> core,
                      std::initializer_list<std::string_view> in_group) {
  const Value* found = EventField(v, core, in_group);
  return found == nullptr ? "" : std::string(found->text());
}

// Events of today's schedulers have a time and perhaps a series, and neither counts nor time stamps.
void RowOfSeries(const Value& v, absl::Time now, Row* out) {
  const std::string time(Str(v, {"eventTime"}));
  std::string first = EventText(v, {"firstTimestamp"}, {"deprecatedFirstTimestamp"});
  std::string last = EventText(v, {"lastTimestamp"}, {"deprecatedLastTimestamp"});
  if (first.empty()) first = time;
  if (last.empty()) last = first;
  const Value* count = EventField(v, {"count"}, {"deprecatedCount"});
  int64_t times = count == nullptr || count->AsInt() == 0 ? 1 : count->AsInt();
  if (const Value* series = v.Find("series")) {
    last = std::string(series->Str("lastObservedTime"));
    times = Int(*series, {"count"});
  }
  const std::string kind = absl::AsciiStrToLower(EventText(v, {"involvedObject", "kind"}, {"regarding", "kind"}));
  const std::string name = EventText(v, {"involvedObject", "name"}, {"regarding", "name"});
  std::string source = EventText(v, {"source", "component"}, {"deprecatedSource", "component"});
  std::string host = EventText(v, {"source", "host"}, {"deprecatedSource", "host"});
  if (source.empty()) {
    source = EventText(v, {"reportingComponent"}, {"reportingController"});
    host = std::string(Str(v, {"reportingInstance"}));
  }
  out->Text(Age(last, now));
  out->Text(Str(v, {"type"}));
  out->Text(Str(v, {"reason"}));
  out->Text(name.empty() ? kind : absl::StrCat(kind, "/", name));
  out->Text(EventText(v, {"involvedObject", "fieldPath"}, {"regarding", "fieldPath"}));
  out->Text(absl::StrCat(source, host.empty() ? "" : ", ", host));
  std::string message = EventText(v, {"message"}, {"note"});
  absl::StripAsciiWhitespace(&message);
  out->Text(message);
  out->Text(Age(first, now));
  out->Number(times);
  out->Text(Str(v, {"metadata", "name"}));
}

void ServiceRow(const Value& v, absl::Time now, Row* out) {
  out->Text(Str(v, {"metadata", "name"}));
  out->Text(Str(v, {"spec", "type"}));
  out->Text(Or(Str(v, {"spec", "clusterIP"}), "<none>"));
  out->Text(Or(JoinTexts(v.At({"spec", "externalIPs"})), "<none>"));
  std::vector<std::string> ports;
  if (const Value* list = v.At({"spec", "ports"})) {
    for (const Value& p : list->items) {
      std::string node = Int(p, {"nodePort"}) == 0 ? "" : absl::StrCat(":", Int(p, {"nodePort"}));
      ports.push_back(absl::StrCat(Int(p, {"port"}), node, "/", std::string(p.Str("protocol"))));
    }
  }
  out->Text(ports.empty() ? "<none>" : absl::StrJoin(ports, ","));
  out->Text(CreatedAge(v, now));
  out->Text(JoinMap(v.At({"spec", "selector"})));
}

void ReplicaRow(const Value& v, absl::Time now, Row* out) {
  out->Text(Str(v, {"metadata", "name"}));
  out->Number(Int(v, {"spec", "replicas"}));
  out->Number(Int(v, {"status", "replicas"}));
  out->Number(Int(v, {"status", "readyReplicas"}));
  out->Text(CreatedAge(v, now));
  ContainersAndImages(v, out);
  const Value* selector = v.At({"spec", "selector"});
  bool plain =
      selector != nullptr && selector->Find("matchLabels") == nullptr && selector->Find("matchExpressions") == nullptr;
  out->Text(plain ? JoinMap(selector) : SelectorText(selector));
}

void StatefulSetRow(const Value& v, absl::Time now, Row* out) {
  out->Text(Str(v, {"metadata", "name"}));
  out->Text(absl::StrCat(Int(v, {"spec", "replicas"})));
  out->Text(absl::StrCat(Int(v, {"status", "replicas"})));
  out->Text(CreatedAge(v, now));
  ContainersAndImages(v, out);
}

void DeploymentRow(const Value& v, absl::Time now, Row* out) {
  out->Text(Str(v, {"metadata", "name"}));
  out->Text(absl::StrCat(Int(v, {"spec", "replicas"})));
  for (std::string_view key : {"replicas", "updatedReplicas", "availableReplicas"})
    out->Text(absl::StrCat(Int(v, {"status", key})));
  out->Text(CreatedAge(v, now));
  ContainersAndImages(v, out);
  out->Text(SelectorText(v.At({"spec", "selector"})));
}

void DaemonSetRow(const Value& v, absl::Time now, Row* out) {
  out->Text(Str(v, {"metadata", "name"}));
  for (std::string_view key :
       {"desiredNumberScheduled", "currentNumberScheduled", "numberReady", "updatedNumberScheduled", "numberAvailable"})
    out->Number(Int(v, {"status", key}));
  out->Text(JoinMap(v.At({"spec", "template", "spec", "nodeSelector"})));
  out->Text(CreatedAge(v, now));
  ContainersAndImages(v, out);
  out->Text(SelectorText(v.At({"spec", "selector"})));
}

std::string JobDuration(const Value& v, absl::Time now) {
  const std::string_view begin = Str(v, {"status", "startTime"}), end = Str(v, {"status", "completionTime"});
  absl::Time t = now;
  std::string why;
  if (!end.empty()) absl::ParseTime(absl::RFC3339_full, std::string(end), &t, &why);
  return begin.empty() ? "" : Age(begin, t);
}

void JobRow(const Value& v, absl::Time now, Row* out) {
  out->Text(Str(v, {"metadata", "name"}));
  const Value* conditions = v.At({"status", "conditions"});
  std::string status = "Running";
  for (std::string_view type : {"Suspended", "FailureTarget", "SuccessCriteriaMet", "Failed", "Complete"}) {
    if (conditions == nullptr) break;
    for (const Value& c : conditions->items) {
      if (c.Str("type") == type && c.Str("status") == "True") status = type;
    }
  }
  out->Text(status);
  const Value* completions = v.At({"spec", "completions"});
  const int64_t parallelism = Int(v, {"spec", "parallelism"}), done = Int(v, {"status", "succeeded"});
  out->Text(completions != nullptr ? absl::StrCat(done, "/", completions->AsInt())
            : parallelism > 1      ? absl::StrCat(done, "/1 of ", parallelism)
                                   : absl::StrCat(done, "/1"));
  out->Text(JobDuration(v, now));
  out->Text(CreatedAge(v, now));
  ContainersAndImages(v, out);
  out->Text(SelectorText(v.At({"spec", "selector"})));
}

void CronJobRow(const Value& v, absl::Time now, Row* out) {
  out->Text(Str(v, {"metadata", "name"}));
  out->Text(Str(v, {"spec", "schedule"}));
  out->Text(Or(Str(v, {"spec", "timeZone"}), "<none>"));
  const Value* suspend = v.At({"spec", "suspend"});
  out->Text(suspend != nullptr && suspend->AsBool() ? "True" : "False");
  out->Number(static_cast<int64_t>(validation::OrEmpty(v.At({"status", "active"})).items.size()));
  out->Text(Str(v, {"status", "lastScheduleTime"}).empty() ? "<none>"
                                                           : Age(Str(v, {"status", "lastScheduleTime"}), now));
  out->Text(CreatedAge(v, now));
}

std::string Capacity(const Value& v, std::string_view member) {
  return std::string(Str(v, {member, "capacity", "storage"}));
}

std::string AccessModes(const Value* modes) {
  std::string out;
  if (modes == nullptr) return out;
  for (const Value& m : modes->items) {
    std::string_view t = m.text();
    absl::StrAppend(&out, out.empty() ? "" : ",", t == "ReadWriteOnce" ? "RWO" : t == "ReadOnlyMany" ? "ROX" : "RWX");
  }
  return out;
}

void VolumeRow(const Value& v, absl::Time now, Row* out) {
  out->Text(Str(v, {"metadata", "name"}));
  out->Text(Capacity(v, "spec"));
  out->Text(AccessModes(v.At({"spec", "accessModes"})));
  out->Text(Str(v, {"spec", "persistentVolumeReclaimPolicy"}));
  out->Text(Str(v, {"status", "phase"}));
  std::string_view claim = Str(v, {"spec", "claimRef", "name"});
  out->Text(claim.empty()
                ? ""
                : absl::StrCat(std::string(Str(v, {"spec", "claimRef", "namespace"})), "/", std::string(claim)));
  out->Text(Str(v, {"spec", "storageClassName"}));
  out->Text(Str(v, {"status", "reason"}));
  out->Text(CreatedAge(v, now));
}

void ClaimRow(const Value& v, absl::Time now, Row* out) {
  out->Text(Str(v, {"metadata", "name"}));
  out->Text(Str(v, {"status", "phase"}));
  out->Text(Str(v, {"spec", "volumeName"}));
  bool bound = !Str(v, {"spec", "volumeName"}).empty();
  out->Text(bound ? Capacity(v, "status") : "");
  out->Text(bound ? AccessModes(v.At({"status", "accessModes"})) : "");
  out->Text(Str(v, {"spec", "storageClassName"}));
  out->Text(CreatedAge(v, now));
}

void BudgetRow(const Value& v, absl::Time now, Row* out) {
  out->Text(Str(v, {"metadata", "name"}));
  out->Text(Or(Str(v, {"spec", "minAvailable"}), "N/A"));
  out->Text(Or(Str(v, {"spec", "maxUnavailable"}), "N/A"));
  out->Number(Int(v, {"status", "disruptionsAllowed"}));
  out->Text(CreatedAge(v, now));
}

void DeviceClaimRow(const Value& v, absl::Time now, Row* out) {
  const Value* reserved = v.At({"status", "reservedFor"});
  const bool deleted = !Str(v, {"metadata", "deletionTimestamp"}).empty();
  std::string state = deleted ? "deleted" : "";
  auto add = [&](std::string_view word) { absl::StrAppend(&state, state.empty() ? "" : ",", std::string(word)); };
  if (v.At({"status", "allocation"}) == nullptr) {
    if (!deleted) add("pending");
  } else {
    add("allocated");
    if (reserved != nullptr && !reserved->empty()) add("reserved");
  }
  out->Text(Str(v, {"metadata", "name"}));
  out->Text(state);
  out->Text(CreatedAge(v, now));
}

void NameAndAgeRow(const Value& v, absl::Time now, Row* out) {
  out->Text(Str(v, {"metadata", "name"}));
  out->Text(CreatedAge(v, now));
}

void SliceRow(const Value& v, absl::Time now, Row* out) {
  out->Text(Str(v, {"metadata", "name"}));
  out->Text(Str(v, {"spec", "nodeName"}));
  out->Text(Str(v, {"spec", "driver"}));
  out->Text(Str(v, {"spec", "pool", "name"}));
  out->Text(CreatedAge(v, now));
}

// NOLINT(readability-function-size): a table of columns by kind.
const std::map<std::string_view, Printer>& Printers() {
  static const Column kNameColumn{"Name", "string", "name", kName};
  static const Column kAgeColumn{"Age", "string", "", kCreated};
  static const Column kContainers{"Containers", "string", "", "Names of each container in the template.", 1};
  static const Column kImages{"Images", "string", "", "Images referenced by each container in the template.", 1};
  static const Column kSelector{"Selector", "string", "", "Selector is a label query over pods.", 1};
  static const auto* all =
      new std::map<
          std::string_view, Printer>{{"Pod",
                                      {{kNameColumn,
                                        {"Ready", "string", "",
                                         "The aggregate readiness state of this pod for accepting traffic."},
                                        {"Status", "string", "", "The aggregate status of the containers in this pod."},
                                        {"Restarts", "integer", "",
                                         "The number of times the containers in this pod have been restarted."},
                                        kAgeColumn,
                                        {"IP", "string", "",
                                         "IP address allocated to the pod. Routable at least within the cluster. Empty "
                                         "if "
                                         "not yet allocated.",
                                         1},
                                        {"Node", "string", "",
                                         "NodeName is a request to schedule this pod onto a specific node. If it is "
                                         "non-empty, the scheduler simply "
                                         "schedules this pod onto that node, assuming that it fits resource "
                                         "requirements.",
                                         1}},
                                       PodRow}},
                                     {"Node",
                                      {{kNameColumn,
                                        {"Status", "string", "", "The status of the node"},
                                        {"Roles", "string", "", "The roles of the node"},
                                        kAgeColumn,
                                        {"Version", "string", "", "Kubelet Version reported by the node."},
                                        {"External-IP", "string", "",
                                         "List of addresses reachable to the node. Queried from cloud provider, if "
                                         "available. More info: "
                                         "https://kubernetes.io/docs/concepts/nodes/node/#addresses",
                                         1},
                                        {"OS-Image", "string", "",
                                         "OS Image reported by the node from /etc/os-release (e.g. Debian GNU/Linux 7 "
                                         "(wheezy)).",
                                         1},
                                        {"Kernel-Version", "string", "",
                                         "Kernel Version reported by the node from 'uname -r' (e.g. "
                                         "3.16.0-0.bpo.4-amd64).",
                                         1},
                                        {"Container-Runtime", "string", "",
                                         "ContainerRuntime Version reported by the node through runtime remote API "
                                         "(e.g. "
                                         "docker://1.5.0).",
                                         1}},
                                       NodeRow}},
                                     {"Event",
                                      {{{"Last Seen", "string", "",
                                         "The time at which the most recent occurrence of this event was recorded."},
                                        {"First Seen", "string", "", "The time at which the event was first recorded."},
                                        {"Count", "string", "", "The number of times this event has occurred."},
                                        kNameColumn,
                                        {"Kind", "string", "", "Kind of the referent."},
                                        {"Subobject", "string", "", "The part of the object that the event is about."},
                                        {"Type", "string", "", "Type of this event (Normal, Warning)."},
                                        {"Reason", "string", "", "Why the event happened, in one word."},
                                        {"Source", "string", "", "The component reporting this event."},
                                        {"Message", "string", "", "A human-readable description of what happened."}},
                                       EventRow}},
                                     {"Event with a series",
                                      {{{"Last Seen", "string", "", "When it was seen last."},
                                        {"Type", "string", "", "Normal or Warning."},
                                        {"Reason", "string", "", "Why it happened, in one word."},
                                        {"Object", "string", "", "What it is about."},
                                        {"Subobject", "string", "", "The part of the object that it is about.", 1},
                                        {"Source", "string", "", "Who reported it.", 1},
                                        {"Message", "string", "", "What happened."},
                                        {"First Seen", "string", "", "When it was seen first.", 1},
                                        {"Count", "string", "", "How often it was seen.", 1},
                                        {"Name", "string", "name", kName, 1}},
                                       RowOfSeries}},
                                     {"Service",
                                      {{kNameColumn,
                                        {"Type"},
                                        {"Cluster-IP"},
                                        {"External-IP"},
                                        {"Port(s)"},
                                        kAgeColumn,
                                        {"Selector", "string", "", "", 1}},
                                       ServiceRow}},
                                     {"ReplicationController",
                                      {{kNameColumn,
                                        {"Desired", "integer"},
                                        {"Current", "integer"},
                                        {"Ready", "integer"},
                                        kAgeColumn,
                                        kContainers,
                                        kImages,
                                        kSelector},
                                       ReplicaRow}},
                                     {"ReplicaSet",
                                      {{kNameColumn,
                                        {"Desired", "integer"},
                                        {"Current", "integer"},
                                        {"Ready", "integer"},
                                        kAgeColumn,
                                        kContainers,
                                        kImages,
                                        kSelector},
                                       ReplicaRow}},
                                     {"StatefulSet",
                                      {{kNameColumn, {"Desired"}, {"Current"}, kAgeColumn, kContainers, kImages},
                                       StatefulSetRow}},
                                     {"Deployment",
                                      {{kNameColumn,
                                        {"Desired"},
                                        {"Current"},
                                        {"Up-to-date"},
                                        {"Available"},
                                        kAgeColumn,
                                        kContainers,
                                        kImages,
                                        kSelector},
                                       DeploymentRow}},
                                     {"DaemonSet",
                                      {{kNameColumn,
                                        {"Desired", "integer"},
                                        {"Current", "integer"},
                                        {"Ready", "integer"},
                                        {"Up-to-date", "integer"},
                                        {"Available", "integer"},
                                        {"Node Selector"},
                                        kAgeColumn,
                                        kContainers,
                                        kImages,
                                        kSelector},
                                       DaemonSetRow}},
                                     {"Job",
                                      {{kNameColumn,
                                        {"Status"},
                                        {"Completions"},
                                        {"Duration"},
                                        kAgeColumn,
                                        kContainers,
                                        kImages,
                                        kSelector},
                                       JobRow}},
                                     {"CronJob",
                                      {{kNameColumn,
                                        {"Schedule"},
                                        {"Timezone"},
                                        {"Suspend"},
                                        {"Active", "integer"},
                                        {"Last Schedule"},
                                        kAgeColumn},
                                       CronJobRow}},
                                     {"PersistentVolume",
                                      {{kNameColumn,
                                        {"Capacity"},
                                        {"Access Modes"},
                                        {"Reclaim Policy"},
                                        {"Status"},
                                        {"Claim"},
                                        {"StorageClass"},
                                        {"Reason"},
                                        kAgeColumn},
                                       VolumeRow}},
                                     {"PersistentVolumeClaim",
                                      {{kNameColumn,
                                        {"Status"},
                                        {"Volume"},
                                        {"Capacity"},
                                        {"Access Modes"},
                                        {"StorageClass"},
                                        kAgeColumn},
                                       ClaimRow}},
                                     {"StorageClass",
                                      {{kNameColumn, {"Provisioner"}, kAgeColumn},
                                       [](const Value& v, absl::Time now, Row* out) {
                                         out->Text(Str(v, {"metadata", "name"}));
                                         out->Text(v.Str("provisioner"));
                                         out->Text(CreatedAge(v, now));
                                       }}},
                                     {"PodDisruptionBudget",
                                      {{kNameColumn,
                                        {"Min Available"},
                                        {"Max Unavailable"},
                                        {"Allowed Disruptions", "integer"},
                                        kAgeColumn},
                                       BudgetRow}},
                                     {"ConfigMap",
                                      {{kNameColumn, {"Data"}, kAgeColumn},
                                       [](const Value& v, absl::Time now, Row* out) {
                                         const Value* data = v.Find("data");
                                         out->Text(Str(v, {"metadata", "name"}));
                                         out->Text(absl::StrCat(data == nullptr ? 0 : data->items.size()));
                                         out->Text(CreatedAge(v, now));
                                       }}},
                                     {"Endpoints",
                                      {{kNameColumn, {"Endpoints"}, kAgeColumn},
                                       [](const Value& v, absl::Time now, Row* out) {
                                         std::vector<std::string> all_addresses;
                                         if (const Value* subsets = v.Find("subsets")) {
                                           for (const Value& s : subsets->items) {
                                             const Value* addresses = s.Find("addresses");
                                             const Value* ports = s.Find("ports");
                                             if (addresses == nullptr || ports == nullptr) continue;
                                             for (const Value& p : ports->items) {
                                               for (const Value& a : addresses->items)
                                                 all_addresses.push_back(
                                                     absl::StrCat(std::string(a.Str("ip")), ":", Int(p, {"port"})));
                                             }
                                           }
                                         }
                                         out->Text(Str(v, {"metadata", "name"}));
                                         out->Text(all_addresses.empty() ? "<none>"
                                                                         : absl::StrJoin(all_addresses, ","));
                                         out->Text(CreatedAge(v, now));
                                       }}},
                                     {"Namespace",
                                      {{kNameColumn, {"Status"}, kAgeColumn},
                                       [](const Value& v, absl::Time now, Row* out) {
                                         out->Text(Str(v, {"metadata", "name"}));
                                         out->Text(Str(v, {"status", "phase"}));
                                         out->Text(CreatedAge(v, now));
                                       }}},
                                     {"ResourceClaim", {{kNameColumn, {"State"}, kAgeColumn}, DeviceClaimRow}},
                                     {"ResourceClaimTemplate", {{kNameColumn, kAgeColumn}, NameAndAgeRow}},
                                     {"DeviceClass", {{kNameColumn, kAgeColumn}, NameAndAgeRow}},
                                     {"ResourceSlice",
                                      {{kNameColumn, {"Node"}, {"Driver"}, {"Pool"}, kAgeColumn}, SliceRow}},
                                     // All kinds that have no entry of their own.
                                     {"",
                                      {{kNameColumn, {"Created At", "date", "", kCreated}},
                                       [](const Value& v, absl::Time, Row* out) {
                                         out->Text(Str(v, {"metadata", "name"}));
                                         out->Text(Str(v, {"metadata", "creationTimestamp"}));
                                       }}}};
  return *all;
}

}  // namespace

std::string Age(std::string_view rfc3339, absl::Time now) {
  absl::Time t;
  std::string why;
  if (rfc3339.empty() || !absl::ParseTime(absl::RFC3339_full, std::string(rfc3339), &t, &why)) return "<unknown>";
  int64_t s = absl::ToInt64Seconds(now - t);
  if (s < -1) return "<invalid>";
  if (s < 0) return "0s";
  constexpr int64_t kMinute = 60, kHour = 3600, kDay = 86400, kYear = 365 * kDay;
  if (s < kMinute) return absl::StrCat(s, "s");
  if (s < kHour) return absl::StrCat(s / kMinute, "m");
  if (s < kDay) return absl::StrCat(s / kHour, "h");
  if (s < kYear) return absl::StrCat(s / kDay, "d");
  return absl::StrCat(s / kYear, "y");
}

std::string MakeTable(const ResourceInfo& r, size_t version, const std::vector<ObjectPtr>& objects,
                      std::string_view list_metadata, absl::Time now, RowObject object) {
  const bool by_series = r.kind == "Event" && kColumnsOfEvents.Has(r.release);
  auto it = Printers().find(by_series ? "Event with a series" : std::string_view(r.kind));
  const Printer& printer = it != Printers().end() ? it->second : Printers().find("")->second;
  std::string out = R"({"kind":"Table","apiVersion":"meta.k8s.io/v1beta1","metadata":)";
  out.append(list_metadata).append(",\"columnDefinitions\":[");
  for (size_t i = 0; i < printer.columns.size(); ++i) {
    const Column& c = printer.columns[i];
    out.append(i > 0 ? ",{\"name\":" : "{\"name\":");
    api::AppendJsonString(c.name, &out);
    out.append(",\"type\":");
    api::AppendJsonString(c.type, &out);
    out.append(",\"format\":");
    api::AppendJsonString(c.format, &out);
    out.append(",\"description\":");
    api::AppendJsonString(c.description, &out);
    absl::StrAppend(&out, ",\"priority\":", c.priority, "}");
  }
  out.append("],\"rows\":[");
  for (size_t i = 0; i < objects.size(); ++i) {
    Value v = ToValue(r, version, *objects[i]);
    Row row;
    printer.row(v, now, &row);
    out.append(i > 0 ? ",{\"cells\":[" : "{\"cells\":[");
    for (size_t k = 0; k < row.cells.size(); ++k) {
      if (k > 0) out.push_back(',');
      AppendJson(row.cells[k], &out);
    }
    out.push_back(']');
    if (object == RowObject::kWhole) {
      out.append(",\"object\":");
      AppendObject(r, version, *objects[i], "", &out);
    } else if (object == RowObject::kMetadata) {
      out.append(
          ",\"object\":{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1beta1\",\"metadata\":");
      AppendJson(*v.Find("metadata"), &out);
      out.push_back('}');
    }
    out.push_back('}');
  }
  return out.append("]}\n");
}

}  // namespace berth::apiserver
