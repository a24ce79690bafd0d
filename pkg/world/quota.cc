#include "pkg/world/quota.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "pkg/api/validation/defaults.h"
#include "pkg/util/status.h"
#include "pkg/world/kinds.h"

namespace berth::world {
namespace {

constexpr std::string_view kCounted[] = {"Pod",
                                         "PersistentVolumeClaim",
                                         "Deployment",
                                         "ReplicaSet",
                                         "StatefulSet",
                                         "DaemonSet",
                                         "Job",
                                         "CronJob",
                                         "ReplicationController",
                                         "Service",
                                         "ConfigMap",
                                         "Secret",
                                         "ResourceQuota",
                                         "ServiceAccount",
                                         "LimitRange",
                                         "Endpoints",
                                         "EndpointSlice",
                                         "HorizontalPodAutoscaler",
                                         "PodDisruptionBudget",
                                         "Ingress",
                                         "NetworkPolicy",
                                         "ControllerRevision",
                                         "Lease",
                                         "ResourceClaim"};
// Kinds that quotas also count by the plain names of their resources.
constexpr std::string_view kPlain[] = {"ReplicationController", "Service", "ConfigMap", "Secret", "ResourceQuota"};
// Resources that every container must state when a quota limits them.
constexpr std::string_view kStated[] = {"cpu",        "memory",       "requests.cpu", "requests.memory",
                                        "limits.cpu", "limits.memory"};

bool Finished(const Value& pod) {
  const Value* status = pod.Find("status");
  const std::string_view phase = status == nullptr ? std::string_view() : status->Str("phase");
  return phase == "Succeeded" || phase == "Failed";
}

void AddPodUsage(const Value& pod, Amounts* usage) {
  if (Finished(pod)) return;
  (*usage)["pods"] = api::Quantity::FromInt(1);
  const Value& spec = validation::OrEmpty(pod.Find("spec"));
  Amounts requests = OfPod(spec, "requests"), limits = OfPod(spec, "limits");
  const Amounts overhead = AmountsOf(spec.Find("overhead"));
  AddAmounts(overhead, &requests);
  for (const auto& [name, amount] : overhead) {
    if (auto it = limits.find(name); it != limits.end()) it->second += amount;
  }
  for (const auto& [name, amount] : requests) {
    const bool extended = name.find('/') != std::string::npos;
    if (!extended) (*usage)[name] = amount;
    (*usage)[absl::StrCat("requests.", name)] = amount;
  }
  for (const auto& [name, amount] : limits) (*usage)[absl::StrCat("limits.", name)] = amount;
}

void AddClaimUsage(const Value& claim, Amounts* usage) {
  const Value& spec = validation::OrEmpty(claim.Find("spec"));
  const Amounts requests = AmountsOf(spec, "requests");
  auto storage = requests.find("storage");
  std::string prefix(AnnotationOf(claim, "volume.beta.kubernetes.io/storage-class"));
  if (prefix.empty()) prefix = spec.Str("storageClassName");
  if (!prefix.empty()) prefix += ".storageclass.storage.k8s.io/";
  for (const std::string& p : prefix.empty() ? std::vector<std::string>{""} : std::vector<std::string>{"", prefix}) {
    (*usage)[p + "persistentvolumeclaims"] = api::Quantity::FromInt(1);
    if (storage != requests.end()) (*usage)[p + "requests.storage"] = storage->second;
  }
}

void AddServiceUsage(const Value& service, Amounts* usage) {
  const Value& spec = validation::OrEmpty(service.Find("spec"));
  const bool balanced = spec.Str("type") == "LoadBalancer";
  if (balanced) (*usage)["services.loadbalancers"] = api::Quantity::FromInt(1);
  const Value* allocates = spec.Find("allocateLoadBalancerNodePorts");
  const Value* ports = spec.Find("ports");
  if (ports == nullptr || (!balanced && spec.Str("type") != "NodePort")) return;
  int64_t on_nodes = 0;
  for (const Value& port : ports->items) {
    const Value* given = port.Find("nodePort");
    on_nodes += !balanced || allocates == nullptr || allocates->AsBool() || (given != nullptr && given->AsInt() != 0);
  }
  (*usage)["services.nodeports"] = api::Quantity::FromInt(on_nodes);
}

bool HasCrossNamespaceAffinity(const Value& spec) {
  auto crosses = [](const Value& term) {
    const Value* namespaces = term.Find("namespaces");
    const Value* selector = term.Find("namespaceSelector");
    return (namespaces != nullptr && !namespaces->empty()) || (selector != nullptr && !selector->IsNull());
  };
  for (std::string_view kind : {"podAffinity", "podAntiAffinity"}) {
    if (const Value* l = spec.At({"affinity", kind, "requiredDuringSchedulingIgnoredDuringExecution"})) {
      if (std::any_of(l->items.begin(), l->items.end(), crosses)) return true;
    }
    if (const Value* l = spec.At({"affinity", kind, "preferredDuringSchedulingIgnoredDuringExecution"})) {
      for (const Value& weighted : l->items) {
        if (crosses(validation::OrEmpty(weighted.Find("podAffinityTerm")))) return true;
      }
    }
  }
  return false;
}

// Returns whether a pod is in a scope. `op` and `values` are those of a scopeSelector; for PriorityClass only.
bool InScope(const Value& pod, std::string_view scope, std::string_view op, const Value* values) {
  const Value& spec = validation::OrEmpty(pod.Find("spec"));
  const Value* deadline = spec.Find("activeDeadlineSeconds");
  const bool terminating = deadline != nullptr && !deadline->IsNull();
  if (scope == "Terminating") return terminating;
  if (scope == "NotTerminating") return !terminating;
  if (scope == "BestEffort") return validation::QosClass(pod) == "BestEffort";
  if (scope == "NotBestEffort") return validation::QosClass(pod) != "BestEffort";
  if (scope == "CrossNamespacePodAffinity") return HasCrossNamespaceAffinity(spec);
  if (scope != "PriorityClass") return false;
  const std::string_view name = spec.Str("priorityClassName");
  auto same = [&](const Value& v) { return v.text() == name; };
  const bool listed = values != nullptr && std::any_of(values->items.begin(), values->items.end(), same);
  if (op == "In") return listed;
  if (op == "NotIn") return !listed;
  if (op == "DoesNotExist") return name.empty();
  return !name.empty();
}

// Returns "must specify requests.cpu for: a,b", or nothing.
std::string Unstated(const Amounts& hard, const Value& pod) {
  std::vector<std::string> texts;
  const Value& spec = validation::OrEmpty(pod.Find("spec"));
  for (std::string_view name : kStated) {
    if (!hard.contains(name)) continue;
    const bool limit = name.starts_with("limits.");
    const size_t dot = name.find('.');
    const std::string_view resource = dot == std::string_view::npos ? name : name.substr(dot + 1);
    const std::string_view which = limit ? "limits" : "requests";
    if (AmountsOf(spec, which).contains(resource)) continue;
    std::set<std::string> lacking;
    EachContainer(spec, [&](const Value& c, bool) {
      if (!AmountsOf(c, which).contains(resource)) lacking.emplace(c.Str("name"));
    });
    if (!lacking.empty()) texts.push_back(absl::StrCat(util::ToAbsl(name), " for: ", absl::StrJoin(lacking, ",")));
  }
  std::sort(texts.begin(), texts.end());
  return texts.empty() ? std::string() : absl::StrCat("must specify ", absl::StrJoin(texts, "; "));
}

std::string Listed(const Amounts& amounts, const std::vector<std::string>& names) {
  std::vector<std::string> texts;
  for (const std::string& name : names) {
    auto it = amounts.find(name);
    texts.push_back(absl::StrCat(name, "=", it == amounts.end() ? "0" : it->second.String()));
  }
  return absl::StrJoin(texts, ",");
}

}  // namespace

Amounts QuotaUsage(std::string_view kind, const Value& object) {
  Amounts usage;
  if (std::find(std::begin(kCounted), std::end(kCounted), kind) == std::end(kCounted)) return usage;
  const std::string resource = ResourceText(kind);
  usage[absl::StrCat("count/", resource)] = api::Quantity::FromInt(1);
  if (kind == "Pod") AddPodUsage(object, &usage);
  if (kind == "PersistentVolumeClaim") AddClaimUsage(object, &usage);
  if (kind == "Service") AddServiceUsage(object, &usage);
  if (std::find(std::begin(kPlain), std::end(kPlain), kind) != std::end(kPlain)) {
    usage[resource] = api::Quantity::FromInt(1);
  }
  return usage;
}

bool QuotaCovers(const Value& quota, std::string_view kind, const Value& object) {
  bool covers = true;
  if (const Value* scopes = quota.At({"spec", "scopes"})) {
    for (const Value& scope : scopes->items)
      covers = covers && kind == "Pod" && InScope(object, scope.text(), "", nullptr);
  }
  if (const Value* selected = quota.At({"spec", "scopeSelector", "matchExpressions"})) {
    for (const Value& e : selected->items) {
      covers = covers && kind == "Pod" && InScope(object, e.Str("scopeName"), e.Str("operator"), e.Find("values"));
    }
  }
  return covers;
}

Amounts& QuotaLedger::Used(const Value& quota) {
  auto [it, is_new] =
      used_.try_emplace(absl::StrCat(util::ToAbsl(NamespaceOf(quota)), "/", util::ToAbsl(NameOf(quota))));
  if (!is_new) return it->second;
  if (const Value* kept = quota.At({"status", "used"}); kept != nullptr && WasStored(quota)) {
    return it->second = AmountsOf(kept);
  }
  for (std::string_view kind : kCounted) {
    objects_->Each(kind, NamespaceOf(quota), [&](const Value& o) {
      if (QuotaCovers(quota, kind, o)) AddAmounts(QuotaUsage(kind, o), &it->second);
    });
  }
  return it->second;
}

void QuotaLedger::Start(const Value& quota, Amounts used) {
  used_[absl::StrCat(util::ToAbsl(NamespaceOf(quota)), "/", util::ToAbsl(NameOf(quota)))] = std::move(used);
}

const Amounts& QuotaLedger::UsedOf(const Value& quota) {
  return Used(quota);
}

std::string QuotaLedger::Refusal(std::string_view kind, const Value& object) {
  std::string failed, exceeded;
  const Amounts usage = QuotaUsage(kind, object);
  objects_->Each("ResourceQuota", NamespaceOf(object), [&](const Value& quota) {
    if (!QuotaCovers(quota, kind, object)) return;
    const Amounts hard = AmountsOf(quota.At({"spec", "hard"}));
    if (failed.empty() && kind == "Pod") {
      if (std::string text = Unstated(hard, object); !text.empty()) {
        failed = absl::StrCat("failed quota: ", util::ToAbsl(NameOf(quota)), ": ", text);
      }
    }
    if (!exceeded.empty()) return;
    std::vector<std::string> beyond;
    const Amounts& used = Used(quota);
    for (const auto& [name, most] : hard) {
      auto more = usage.find(name), before = used.find(name);
      if (more == usage.end() || more->second.Sign() == 0) continue;
      api::Quantity sum = more->second;
      if (before != used.end()) sum += before->second;
      if (sum > most) beyond.push_back(name);
    }
    if (beyond.empty()) return;
    exceeded = absl::StrCat("exceeded quota: ", util::ToAbsl(NameOf(quota)), ", requested: ", Listed(usage, beyond),
                            ", used: ", Listed(used, beyond), ", limited: ", Listed(hard, beyond));
  });
  return failed.empty() ? exceeded : failed;
}

void QuotaLedger::Add(std::string_view kind, const Value& object) {
  objects_->Each("ResourceQuota", NamespaceOf(object), [&](const Value& quota) {
    // Whether the object is counted among those that exist depends on when that is asked, so it is asked first.
    Amounts& used = Used(quota);
    if (QuotaCovers(quota, kind, object)) AddAmounts(QuotaUsage(kind, object), &used);
  });
}

}  // namespace berth::world
