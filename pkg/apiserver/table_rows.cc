// Cells are computed from the same fields as in Kubernetes (pkg/printers/internalversion), but more simply in places.
#include "pkg/apiserver/table_rows.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <map>

#include "pkg/apiserver/table.h"
#include "pkg/apiserver/table_cells.h"
#include "pkg/util/status.h"

namespace berth::apiserver {

namespace {

using cells::Int;
using cells::Or;
using cells::Str;

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

}  // namespace

void NodeRow(const Value& v, absl::Time /*now*/, Row* out) {
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
  std::string internal = "<none>", external = "<none>";
  if (const Value* addresses = v.At({"status", "addresses"})) {
    for (const Value& a : addresses->items) {
      if (a.Str("type") == "InternalIP") internal = a.Str("address");
      if (a.Str("type") == "ExternalIP") external = a.Str("address");
    }
  }
  out->Text(status);
  out->Text(roles.empty() ? "<none>" : absl::StrJoin(roles, ","));
  out->Text(Str(v, {"status", "nodeInfo", "kubeletVersion"}));
  out->Text(internal);
  out->Text(external);
  for (std::string_view key : {"osImage", "kernelVersion", "containerRuntimeVersion"})
    out->Text(Or(Str(v, {"status", "nodeInfo", key}), "<unknown>"));
}

void EventRow(const Value& v, absl::Time now, Row* out) {
  out->Text(Age(Str(v, {"lastTimestamp"}), now, out->release));
  out->Text(Age(Str(v, {"firstTimestamp"}), now, out->release));
  out->Number(Int(v, {"count"}));
  out->Text(Str(v, {"involvedObject", "kind"}));
  out->Text(Str(v, {"involvedObject", "fieldPath"}));
  out->Text(Str(v, {"type"}));
  out->Text(Str(v, {"reason"}));
  std::string_view host = Str(v, {"source", "host"});
  out->Text(absl::StrCat(std::string(Str(v, {"source", "component"})), host.empty() ? "" : ", ", std::string(host)));
  out->Text(Str(v, {"message"}));
}

namespace {

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

}  // namespace

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
  out->Text(Age(last, now, out->release));
  out->Text(Str(v, {"type"}));
  out->Text(Str(v, {"reason"}));
  out->Text(name.empty() ? kind : absl::StrCat(kind, "/", name));
  out->Text(EventText(v, {"involvedObject", "fieldPath"}, {"regarding", "fieldPath"}));
  out->Text(absl::StrCat(source, host.empty() ? "" : ", ", host));
  std::string message = EventText(v, {"message"}, {"note"});
  absl::StripAsciiWhitespace(&message);
  out->Text(message);
  out->Text(Age(first, now, out->release));
  out->Number(times);
  out->Text(Str(v, {"metadata", "name"}));
}

namespace {

// Returns where a service is seen from outside: the addresses of its load balancer come before those that it names.
std::string OutsideOfService(const Value& v) {
  const std::string_view type = Str(v, {"spec", "type"});
  if (type == "ExternalName") return std::string(Str(v, {"spec", "externalName"}));
  std::vector<std::string> addresses;
  if (type == "LoadBalancer") {
    for (const Value& i : validation::OrEmpty(v.At({"status", "loadBalancer", "ingress"})).items) {
      addresses.emplace_back(i.Str("ip").empty() ? i.Str("hostname") : i.Str("ip"));
    }
  }
  for (const Value& ip : validation::OrEmpty(v.At({"spec", "externalIPs"})).items) addresses.push_back(ip.text());
  if (addresses.empty()) return type == "LoadBalancer" ? "<pending>" : "<none>";
  return absl::StrJoin(addresses, ",");
}

}  // namespace

void ServiceRow(const Value& v, absl::Time /*now*/, Row* out) {
  out->Text(OutsideOfService(v));
  std::vector<std::string> ports;
  if (const Value* list = v.At({"spec", "ports"})) {
    for (const Value& p : list->items) {
      std::string node = Int(p, {"nodePort"}) == 0 ? "" : absl::StrCat(":", Int(p, {"nodePort"}));
      ports.push_back(absl::StrCat(Int(p, {"port"}), node, "/", std::string(p.Str("protocol"))));
    }
  }
  out->Text(ports.empty() ? "<none>" : absl::StrJoin(ports, ","));
  out->Text(JoinMap(v.At({"spec", "selector"})));
}

void ReplicaRow(const Value& v, absl::Time /*now*/, Row* out) {
  ContainersAndImages(v, out);
  const Value* selector = v.At({"spec", "selector"});
  bool plain =
      selector != nullptr && selector->Find("matchLabels") == nullptr && selector->Find("matchExpressions") == nullptr;
  out->Text(plain ? JoinMap(selector) : SelectorText(selector));
}

void StatefulSetRow(const Value& v, absl::Time /*now*/, Row* out) {
  out->Text(absl::StrCat(Int(v, {"status", "readyReplicas"}), "/", Int(v, {"spec", "replicas"})));
  ContainersAndImages(v, out);
}

void DeploymentRow(const Value& v, absl::Time /*now*/, Row* out) {
  out->Text(absl::StrCat(Int(v, {"status", "readyReplicas"}), "/", Int(v, {"spec", "replicas"})));
  ContainersAndImages(v, out);
  out->Text(SelectorText(v.At({"spec", "selector"})));
}

void DaemonSetRow(const Value& v, absl::Time /*now*/, Row* out) {
  out->Text(JoinMap(v.At({"spec", "template", "spec", "nodeSelector"})));
  ContainersAndImages(v, out);
  out->Text(SelectorText(v.At({"spec", "selector"})));
}

namespace {

std::string JobDuration(const Value& v, absl::Time now, const Row& row) {
  const std::string_view begin = Str(v, {"status", "startTime"}), end = Str(v, {"status", "completionTime"});
  absl::Time t = now;
  std::string why;
  if (!end.empty()) absl::ParseTime(absl::RFC3339_full, std::string(end), &t, &why);
  return begin.empty() ? "" : Age(begin, t, row.release);
}

}  // namespace

void JobRow(const Value& v, absl::Time now, Row* out) {
  const Value* conditions = v.At({"status", "conditions"});
  std::string status = "Running";
  for (std::string_view type : {"Suspended", "FailureTarget", "SuccessCriteriaMet", "Failed", "Complete"}) {
    if (conditions == nullptr) break;
    for (const Value& c : conditions->items) {
      if (c.Str("type") == type && c.Str("status") == "True") status = type;
    }
  }
  const Value* completions = v.At({"spec", "completions"});
  out->Text(completions == nullptr ? "<none>" : absl::StrCat(completions->AsInt()));
  out->Text(absl::StrCat(Int(v, {"status", "succeeded"})));
  out->Text(status);
  const int64_t parallelism = Int(v, {"spec", "parallelism"}), done = Int(v, {"status", "succeeded"});
  out->Text(completions != nullptr ? absl::StrCat(done, "/", completions->AsInt())
            : parallelism > 1      ? absl::StrCat(done, "/1 of ", parallelism)
                                   : absl::StrCat(done, "/1"));
  out->Text(JobDuration(v, now, *out));
  ContainersAndImages(v, out);
  out->Text(SelectorText(v.At({"spec", "selector"})));
}

void CronJobRow(const Value& v, absl::Time now, Row* out) {
  const Value* suspend = v.At({"spec", "suspend"});
  out->Text(suspend != nullptr && suspend->AsBool() ? "True" : "False");
  out->Number(static_cast<int64_t>(validation::OrEmpty(v.At({"status", "active"})).items.size()));
  out->Text(Str(v, {"status", "lastScheduleTime"}).empty()
                ? "<none>"
                : Age(Str(v, {"status", "lastScheduleTime"}), now, out->release));
  const Value* job = v.At({"spec", "jobTemplate"});
  ContainersAndImages(validation::OrEmpty(job), out);
  out->Text(SelectorText(validation::OrEmpty(job).At({"spec", "selector"})));
}

namespace {

std::string AccessModes(const Value* modes) {
  std::string out;
  if (modes == nullptr) return out;
  for (const Value& m : modes->items) {
    std::string_view t = m.text();
    absl::StrAppend(&out, out.empty() ? "" : ",",
                    t == "ReadWriteOnce"      ? "RWO"
                    : t == "ReadOnlyMany"     ? "ROX"
                    : t == "ReadWriteOncePod" ? "RWOP"
                                              : "RWX");
  }
  return out;
}

}  // namespace

void VolumeRow(const Value& v, absl::Time /*now*/, Row* out) {
  out->Text(AccessModes(v.At({"spec", "accessModes"})));
  out->Text(Str(v, {"metadata", "deletionTimestamp"}).empty() ? Str(v, {"status", "phase"}) : "Terminating");
  std::string_view claim = Str(v, {"spec", "claimRef", "name"});
  out->Text(claim.empty()
                ? ""
                : absl::StrCat(std::string(Str(v, {"spec", "claimRef", "namespace"})), "/", std::string(claim)));
}

void ClaimRow(const Value& v, absl::Time /*now*/, Row* out) {
  out->Text(Str(v, {"metadata", "deletionTimestamp"}).empty() ? Str(v, {"status", "phase"}) : "Terminating");
  bool bound = !Str(v, {"spec", "volumeName"}).empty();
  out->Text(bound ? Str(v, {"status", "capacity", "storage"}) : "");
  out->Text(bound ? AccessModes(v.At({"status", "accessModes"})) : "");
}

void DeviceClaimRow(const Value& v, absl::Time /*now*/, Row* out) {
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
  out->Text(state);
}

void PriorityClassRow(const Value& v, absl::Time /*now*/, Row* out) {
  const Value* is_default = v.Find("globalDefault");
  out->Text(is_default != nullptr && is_default->AsBool() ? "true" : "false");
}

void StorageClassRow(const Value& v, absl::Time /*now*/, Row* out) {
  std::string name(Str(v, {"metadata", "name"}));
  if (Str(v, {"metadata", "annotations", "storageclass.kubernetes.io/is-default-class"}) == "true")
    name += " (default)";
  const Value* expands = v.Find("allowVolumeExpansion");
  out->Text(name);
  out->Text(expands != nullptr && expands->AsBool() ? "true" : "false");
}

namespace {

// "pods: 1/10, requests.cpu: 1/4"; what begins with limits. has a column of its own.

}  // namespace

void QuotaRow(const Value& v, absl::Time /*now*/, Row* out) {
  std::map<std::string, std::string> requests, limits;
  if (const Value* hard = v.At({"status", "hard"})) {
    for (size_t i = 0; i < hard->keys.size(); ++i) {
      const std::string& key = hard->keys[i];
      (key.starts_with("limits.") ? limits : requests)[key] =
          absl::StrCat(std::string(Or(Str(v, {"status", "used", key}), "0")), "/", hard->items[i].text());
    }
  }
  out->Text(absl::StrJoin(requests, ", ", absl::PairFormatter(": ")));
  out->Text(absl::StrJoin(limits, ", ", absl::PairFormatter(": ")));
}

void SecretRow(const Value& v, absl::Time /*now*/, Row* out) {
  out->Number(static_cast<int64_t>(validation::OrEmpty(v.Find("data")).keys.size()));
}

void ServiceAccountRow(const Value& v, absl::Time /*now*/, Row* out) {
  out->Number(static_cast<int64_t>(validation::OrEmpty(v.Find("secrets")).items.size()));
}

void RuntimeClassRow(const Value& v, absl::Time /*now*/, Row* out) {
  out->Text(Or(v.Str("handler"), Str(v, {"spec", "runtimeHandler"})));
}

void RevisionRow(const Value& v, absl::Time /*now*/, Row* out) {
  std::string owner = "<none>";
  if (const Value* owners = v.At({"metadata", "ownerReferences"})) {
    for (const Value& o : owners->items) {
      const std::string kind = absl::AsciiStrToLower(std::string(o.Str("kind")));
      owner = absl::StrCat(kind, ".apps/", std::string(o.Str("name")));
    }
  }
  out->Text(owner);
}

void ConfigMapRow(const Value& v, absl::Time /*now*/, Row* out) {
  out->Text(absl::StrCat(validation::OrEmpty(v.Find("data")).keys.size()));
}

void EndpointsRow(const Value& v, absl::Time /*now*/, Row* out) {
  std::vector<std::string> all;
  for (const Value& s : validation::OrEmpty(v.Find("subsets")).items) {
    for (const Value& p : validation::OrEmpty(s.Find("ports")).items) {
      for (const Value& a : validation::OrEmpty(s.Find("addresses")).items) {
        all.push_back(absl::StrCat(std::string(a.Str("ip")), ":", Int(p, {"port"})));
      }
    }
  }
  out->Text(all.empty() ? "<none>" : absl::StrJoin(all, ","));
}

// No autoscaler runs here, so that the targets are what nobody has measured.
void AutoscalerRow(const Value& v, absl::Time /*now*/, Row* out) {
  out->Text(absl::StrCat(std::string(Str(v, {"spec", "scaleTargetRef", "kind"})), "/",
                         std::string(Str(v, {"spec", "scaleTargetRef", "name"}))));
  const bool aims = v.At({"spec", "metrics"}) != nullptr || v.At({"spec", "targetCPUUtilizationPercentage"}) != nullptr;
  out->Text(aims ? "<unknown>" : "<none>");
}

void EndpointSliceRow(const Value& v, absl::Time /*now*/, Row* out) {
  std::vector<std::string> ports, addresses;
  for (const Value& p : validation::OrEmpty(v.Find("ports")).items) ports.push_back(absl::StrCat(Int(p, {"port"})));
  for (const Value& e : validation::OrEmpty(v.Find("endpoints")).items) {
    for (const Value& a : validation::OrEmpty(e.Find("addresses")).items) addresses.push_back(a.text());
  }
  constexpr size_t kShown = 3;
  const size_t more = addresses.size() > kShown ? addresses.size() - kShown : 0;
  addresses.resize(addresses.size() - more);
  out->Text(ports.empty() ? "<unset>" : absl::StrJoin(ports, ","));
  out->Text(addresses.empty()
                ? "<unset>"
                : absl::StrCat(absl::StrJoin(addresses, ","), more == 0 ? "" : absl::StrCat(" + ", more, " more...")));
}

void IngressRow(const Value& v, absl::Time /*now*/, Row* out) {
  std::vector<std::string> hosts;
  for (const Value& rule : validation::OrEmpty(v.At({"spec", "rules"})).items) {
    if (!rule.Str("host").empty()) hosts.emplace_back(rule.Str("host"));
  }
  const Value* tls = v.At({"spec", "tls"});
  out->Text(hosts.empty() ? "*" : absl::StrJoin(hosts, ","));
  out->Text("");
  out->Text(tls == nullptr || tls->empty() ? "80" : "80, 443");
}

void IngressClassRow(const Value& v, absl::Time /*now*/, Row* out) {
  const std::string_view kind = Str(v, {"spec", "parameters", "kind"});
  std::string parameters(kind);
  if (const std::string_view group = Str(v, {"spec", "parameters", "apiGroup"}); !group.empty()) {
    absl::StrAppend(&parameters, ".", std::string(group));
  }
  out->Text(kind.empty() ? "<none>"
                         : absl::StrCat(parameters, "/", std::string(Str(v, {"spec", "parameters", "name"}))));
}

void NetworkPolicyRow(const Value& v, absl::Time /*now*/, Row* out) {
  out->Text(SelectorText(v.At({"spec", "podSelector"})));
}

void RoleBindingRow(const Value& v, absl::Time /*now*/, Row* out) {
  out->Text(absl::StrCat(util::ToAbsl(Str(v, {"roleRef", "kind"})), "/", util::ToAbsl(Str(v, {"roleRef", "name"}))));
  for (std::string_view kind : {"User", "Group", "ServiceAccount"}) {
    std::vector<std::string> names;
    for (const Value& s : validation::OrEmpty(v.Find("subjects")).items) {
      if (s.Str("kind") != kind) continue;
      const bool account = kind == "ServiceAccount";
      names.push_back(
          absl::StrCat(account ? absl::StrCat(std::string(s.Str("namespace")), "/") : "", std::string(s.Str("name"))));
    }
    out->Text(absl::StrJoin(names, ", "));
  }
}

}  // namespace berth::apiserver
