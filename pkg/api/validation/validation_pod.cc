#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>

#include "pkg/api/labels.h"
#include "pkg/api/quantity.h"
#include "pkg/api/validation/validation.h"
#include "pkg/util/contract.h"
#include "pkg/util/go_text.h"

namespace berth::validation {
namespace {

bool IsHugePages(std::string_view name) {
  return name.starts_with("hugepages-");
}
bool IsNative(std::string_view name) {
  return name.find('/') == std::string_view::npos || name.find("kubernetes.io/") != std::string_view::npos;
}

void ResourceName(std::string_view name, const Path& at, FieldErrors* errors) {
  auto problems = api::QualifiedNameProblems(name);
  for (const std::string& p : problems) errors->push_back(Invalid(at.str(), name, p));
  if (!problems.empty() || name.find('/') != std::string_view::npos) return;
  static const std::set<std::string_view> kContainer = {"cpu", "memory", "ephemeral-storage"};
  static const std::set<std::string_view> kStandard = {"storage",
                                                       "pods",
                                                       "services",
                                                       "replicationcontrollers",
                                                       "resourcequotas",
                                                       "secrets",
                                                       "persistentvolumeclaims",
                                                       "configmaps",
                                                       "limits.cpu",
                                                       "limits.memory",
                                                       "requests.cpu",
                                                       "requests.memory",
                                                       "requests.storage"};
  bool container = kContainer.contains(name) || IsHugePages(name);
  if (!container && !kStandard.contains(name))
    errors->push_back(Invalid(at.str(), name, "must be a standard resource type or fully qualified"));
  if (!container) errors->push_back(Invalid(at.str(), name, "must be a standard resource for containers"));
}

// Returns whether an amount of huge pages is a whole number of pages, whose size is in the resource's name.
bool IsWholePages(std::string_view name, const api::Quantity& amount) {
  const auto page = api::Quantity::Parse(name.substr(std::string_view("hugepages-").size()));
  return page.ok() && page->Sign() > 0 && amount.Value() % page->Value() == 0;
}

// Huge pages are asked for with cpu or memory, and in whole pages.
void HugePages(const Value& resources, const Path& at, Version release, FieldErrors* errors) {
  bool huge = false, others = false;
  for (std::string_view which : {"limits", "requests"}) {
    const Value& list = OrEmpty(resources.Find(which));
    Path list_path = at / which;
    for (size_t i = 0; i < list.keys.size(); ++i) {
      const std::string& name = list.keys[i];
      others = others || name == "cpu" || name == "memory";
      if (!IsHugePages(name)) continue;
      huge = true;
      const auto amount = api::Quantity::Parse(list.items[i].text());
      if (!kWholeHugePages.Has(release) || !amount.ok() || IsWholePages(name, *amount)) continue;
      errors->push_back(Invalid(list_path.Key(name).str(), amount->String(),
                                absl::StrCat(amount->String(), " is not positive integer multiple of ", name)));
    }
  }
  if (huge && !others && kHugePagesNeedOthers.Has(release)) {
    errors->push_back(Forbidden(at.str(), "HugePages require cpu or memory"));
  }
}

// Reports that a pod uses huge pages of several sizes.
void OneSizeOfHugePages(const Value& spec, const Path& at, FieldErrors* errors) {
  std::set<std::string> sizes;
  for (std::string_view which : {"containers", "initContainers"}) {
    for (const Value& c : OrEmpty(spec.Find(which)).items) {
      for (std::string_view list : {"limits", "requests"}) {
        for (const std::string& name : OrEmpty(OrEmpty(c.Find("resources")).Find(list)).keys) {
          if (IsHugePages(name)) sizes.insert(name);
        }
      }
    }
  }
  if (sizes.size() < 2) return;
  std::string map = "sets.String{";
  for (const std::string& name : sizes) {
    absl::StrAppend(&map, map.ends_with('{') ? "" : ", ", util::GoQuoted(name), ":sets.Empty{}");
  }
  errors->push_back(InvalidRaw(at.str(), map + "}", "must use a single hugepage size in a pod spec"));
}

void ResourceAmounts(const Value& resources, const Path& at, Version release, FieldErrors* errors) {
  constexpr std::string_view kGpu = "alpha.kubernetes.io/nvidia-gpu";
  const Value& limits = OrEmpty(resources.Find("limits"));
  const Value& requests = OrEmpty(resources.Find("requests"));
  Path limit_path = at / "limits", request_path = at / "requests";
  for (size_t i = 0; i < limits.keys.size(); ++i) {
    Path here = limit_path.Key(limits.keys[i]);
    ResourceName(limits.keys[i], here, errors);
    ValidateQuantity(limits.keys[i], limits.items[i].text(), here.str(), errors);
  }
  for (size_t i = 0; i < requests.keys.size(); ++i) {
    const std::string& name = requests.keys[i];
    Path here = request_path.Key(name);
    ResourceName(name, here, errors);
    ValidateQuantity(name, requests.items[i].text(), here.str(), errors);
    bool overcommit = IsNative(name) && !IsHugePages(name) && (name != kGpu || !kGpuIsExtended.Has(release));
    const Value* limit = limits.Find(name);
    if (limit == nullptr) {
      if (!overcommit)
        errors->push_back(Required(limit_path.str(), "Limit must be set for non overcommitable resources"));
      continue;
    }
    auto q = api::Quantity::Parse(requests.items[i].text());
    auto l = api::Quantity::Parse(limit->text());
    if (!q.ok() || !l.ok()) continue;
    const bool must_be_equal = !overcommit && *q != *l;
    if (!must_be_equal && *q <= *l) continue;
    errors->push_back(Invalid(request_path.str(), q->String(),
                              absl::StrCat(must_be_equal ? "must be equal to " : "must be less than or equal to ", name,
                                           " limit", kNamesLimits.Has(release) ? " of " + l->String() : "")));
  }
  HugePages(resources, at, release, errors);
}

// Checks the name of a container's port: it is one of IANA's service names, and no other port of the container has it.
void PortName(const std::string& name, const Path& at, std::set<std::string>* taken, FieldErrors* errors) {
  const std::vector<std::string> problems = PortNameProblems(name);
  for (const std::string& p : problems) errors->push_back(Invalid(at.str(), name, p));
  if (problems.empty() && !taken->insert(name).second) errors->push_back(Duplicate(at.str(), name));
}

void Ports(const Value& container, const Path& at, Version release, FieldErrors* errors) {
  constexpr int kMostPort = 65535;
  const Value& ports = OrEmpty(container.Find("ports"));
  std::set<std::string> names;
  for (size_t i = 0; i < ports.items.size(); ++i) {
    const Value& p = ports.items[i];
    Path here = at[i];
    if (const std::string name(p.Str("name")); !name.empty()) PortName(name, here / "name", &names, errors);
    auto range = [&](std::string_view key, bool needed) {
      int64_t n = OrEmpty(p.Find(key)).AsInt();
      if (n == 0) {
        if (needed) errors->push_back(Required((here / key).str()));
      } else if (n < 1 || n > kMostPort) {
        errors->push_back(InvalidRaw((here / key).str(), std::to_string(n), "must be between 1 and 65535, inclusive"));
      }
    };
    range("containerPort", true);
    range("hostPort", false);
    std::string_view protocol = p.Str("protocol");
    const std::vector<std::string> protocols = ProtocolsOf(release);
    if (std::find(protocols.begin(), protocols.end(), protocol) == protocols.end()) {
      errors->push_back(NotSupported((here / "protocol").str(), protocol, protocols));
    }
  }
}

void Containers(const Value& spec, std::string_view which, const Path& at, const std::set<std::string_view>& volumes,
                Version release, std::set<std::string>* names, FieldErrors* errors) {
  const Value& containers = OrEmpty(spec.Find(which));
  if (which == "containers" && containers.items.empty()) {
    errors->push_back(Required(at.str()));
    return;
  }
  for (size_t i = 0; i < containers.items.size(); ++i) {
    const Value& c = containers.items[i];
    Path here = at[i];
    std::string name(c.Str("name"));
    if (name.empty()) {
      errors->push_back(Required((here / "name").str()));
    } else {
      for (const std::string& p : DnsLabelProblems(name)) errors->push_back(Invalid((here / "name").str(), name, p));
      if (!names->insert(name).second) errors->push_back(Duplicate((here / "name").str(), name));
    }
    if (c.Str("image").empty()) errors->push_back(Required((here / "image").str()));
    ValidateHooks(c, which == "initContainers", here, release, errors);
    Ports(c, here / "ports", release, errors);
    ValidateInsideOfContainer(c, here, volumes, release, errors);
    ResourceAmounts(OrEmpty(c.Find("resources")), here / "resources", release, errors);
  }
  // Host ports must be unique over all containers. Init containers do not run at the same time.
  std::set<std::string> taken;
  for (size_t i = 0; i < containers.items.size(); ++i) {
    if (which == "initContainers") taken.clear();
    const Value& ports = OrEmpty(containers.items[i].Find("ports"));
    Path container = at[i];
    Path list = container / "ports";
    for (size_t k = 0; k < ports.items.size(); ++k) {
      const Value& p = ports.items[k];
      int64_t port = OrEmpty(p.Find("hostPort")).AsInt();
      if (port == 0) continue;
      std::string key = absl::StrCat(std::string(p.Str("protocol")), "/", std::string(p.Str("hostIP")), "/", port);
      Path here = list[k];
      if (!taken.insert(key).second) errors->push_back(Duplicate((here / "hostPort").str(), key));
    }
  }
}

void HostNetworkPorts(const Value& spec, const Path& at, FieldErrors* errors) {
  if (!OrEmpty(spec.Find("hostNetwork")).AsBool()) return;
  const Value& containers = OrEmpty(spec.Find("containers"));
  Path list = at / "containers";
  for (size_t i = 0; i < containers.items.size(); ++i) {
    const Value& ports = OrEmpty(containers.items[i].Find("ports"));
    Path container = list[i];
    Path port_list = container / "ports";
    for (size_t k = 0; k < ports.items.size(); ++k) {
      int64_t port = OrEmpty(ports.items[k].Find("containerPort")).AsInt();
      if (OrEmpty(ports.items[k].Find("hostPort")).AsInt() == port) continue;
      Path here = port_list[k];
      errors->push_back(InvalidRaw((here / "containerPort").str(), std::to_string(port),
                                   "must match `hostPort` when `hostNetwork` is true"));
    }
  }
}

void Weight(const Value& term, const Path& at, FieldErrors* errors) {
  int64_t w = OrEmpty(term.Find("weight")).AsInt();
  if (w < 1 || w > 100)
    errors->push_back(InvalidRaw((at / "weight").str(), std::to_string(w), "must be in the range 1-100"));
}

void PodAffinityTerm(const Value& term, const Path& at, FieldErrors* errors) {
  ValidateLabelSelector(term.Find("labelSelector"), at / "matchExpressions", errors);
  ValidateLabelSelector(term.Find("namespaceSelector"), at / "namespaceSelector", errors);
  std::string_view key = term.Str("topologyKey");
  Path here = at / "topologyKey";
  if (key.empty()) errors->push_back(Required(here.str(), "can not be empty"));
  ValidateLabelName(key, here, errors);
}

void ValidateAffinity(const Value& affinity, const Path& at, Version release, FieldErrors* errors) {
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  if (const Value* node = affinity.Find("nodeAffinity")) {
    Path here = at / "nodeAffinity";
    if (const Value* required = node->Find(kRequired))
      ValidateNodeSelector(*required, here / kRequired, release, errors);
    const Value& preferred = OrEmpty(node->Find(kPreferred));
    Path list = here / kPreferred;
    for (size_t i = 0; i < preferred.items.size(); ++i) {
      Path term = list[i];
      Weight(preferred.items[i], term, errors);
      Value one = Value::Object();
      one.Set("nodeSelectorTerms", Value::Array()).Append(OrEmpty(preferred.items[i].Find("preference")));
      FieldErrors inside;
      ValidateNodeSelector(one, Path(""), release, &inside);
      for (FieldError& e : inside) {
        constexpr std::string_view kPrefix = "nodeSelectorTerms[0]";
        e.field = (term / "preference").str() + e.field.substr(std::min(e.field.size(), kPrefix.size()));
        errors->push_back(std::move(e));
      }
    }
  }
  for (std::string_view which : {"podAffinity", "podAntiAffinity"}) {
    const Value* pod = affinity.Find(which);
    if (pod == nullptr) continue;
    Path here = at / which;
    const Value& required = OrEmpty(pod->Find(kRequired));
    Path required_list = here / kRequired;
    for (size_t i = 0; i < required.items.size(); ++i) PodAffinityTerm(required.items[i], required_list[i], errors);
    const Value& preferred = OrEmpty(pod->Find(kPreferred));
    Path preferred_list = here / kPreferred;
    for (size_t i = 0; i < preferred.items.size(); ++i) {
      Path term = preferred_list[i];
      Weight(preferred.items[i], term, errors);
      PodAffinityTerm(OrEmpty(preferred.items[i].Find("podAffinityTerm")), term / "podAffinityTerm", errors);
    }
  }
}

// Checks members that are names of something else, and the pod's time to live and name servers.
void NamesOfPod(const Value& spec, const Path& at, Version release, FieldErrors* errors) {
  const auto check = [&](std::string_view member, auto problems_of) {
    const std::string_view name = spec.Str(member);
    if (name.empty()) return;
    for (const std::string& p : problems_of(name)) errors->push_back(Invalid((at / member).str(), name, p));
  };
  check("serviceAccountName", api::Dns1123SubdomainProblems);
  check("hostname", DnsLabelProblems);
  check("subdomain", DnsLabelProblems);
  check("runtimeClassName", api::Dns1123SubdomainProblems);
  const Value& secrets = OrEmpty(spec.Find("imagePullSecrets"));
  const Path list = at / "imagePullSecrets";
  for (size_t i = 0; i < secrets.items.size(); ++i) {
    const Path here = list[i];
    if (secrets.items[i].Str("name").empty()) errors->push_back(Required((here / "name").str()));
  }
  constexpr int64_t kLongest = 2147483647;
  const Value* seconds = spec.Find("activeDeadlineSeconds");
  if (seconds != nullptr && seconds->IsNumber() && (seconds->AsInt() < 1 || seconds->AsInt() > kLongest)) {
    errors->push_back(InvalidRaw((at / "activeDeadlineSeconds").str(), seconds->text(),
                                 absl::StrCat("must be between 1 and ", kLongest, ", inclusive")));
  }
  if (spec.Str("dnsPolicy") == "None" && kCustomDns.Has(release)) {
    const Path dns = at / "dnsConfig";
    const Value* config = spec.Find("dnsConfig");
    if (config == nullptr || !config->IsObject()) {
      errors->push_back(Required(dns.str(), "must provide `dnsConfig` when `dnsPolicy` is None"));
    } else if (OrEmpty(config->Find("nameservers")).empty()) {
      errors->push_back(
          Required((dns / "nameservers").str(), "must provide at least one DNS nameserver when `dnsPolicy` is None"));
    }
  }
}

}  // namespace

std::vector<std::string> PortNameProblems(std::string_view name) {
  BERTH_REQUIRES(!name.empty());
  constexpr size_t kLongestPortName = 15;
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto known = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-'; };
  std::vector<std::string> problems;
  const auto wrong = [&](bool is, std::string why) {
    if (is) problems.push_back(std::move(why));
  };
  wrong(name.size() > kLongestPortName, absl::StrCat("must be no more than ", kLongestPortName, " characters"));
  wrong(!std::all_of(name.begin(), name.end(), known),
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  wrong(std::none_of(name.begin(), name.end(), letter), "must contain at least one letter (a-z)");
  wrong(name.find("--") != std::string::npos, "must not contain consecutive hyphens");
  wrong(name.front() == '-' || name.back() == '-', "must not begin or end with a hyphen");
  return problems;
}

void ValidatePortOrName(const Value* port, const Path& at, FieldErrors* errors) {
  constexpr int kMostPort = 65535;
  if (port != nullptr && port->IsString()) {
    if (port->text().empty()) return errors->push_back(Invalid(at.str(), "", "must be no less than 1 characters"));
    for (const std::string& p : PortNameProblems(port->text())) errors->push_back(Invalid(at.str(), port->text(), p));
    return;
  }
  const int64_t n = port == nullptr ? 0 : port->AsInt();
  if (n >= 1 && n <= kMostPort) return;
  errors->push_back(InvalidRaw(at.str(), std::to_string(n), "must be between 1 and 65535, inclusive"));
}

std::vector<std::string> ProtocolsOf(Version release) {
  if (!kSctpIsAProtocol.Has(release)) return {"TCP", "UDP"};
  return {"SCTP", "TCP", "UDP"};
}

void ValidateTolerations(const Value* tolerations, const Path& at, FieldErrors* errors) {
  const Value& list = OrEmpty(tolerations);
  for (size_t i = 0; i < list.items.size(); ++i) {
    const Value& t = list.items[i];
    Path here = at[i];
    std::string_view key = t.Str("key"), op = t.Str("operator"), value = t.Str("value"), effect = t.Str("effect");
    if (!key.empty()) ValidateLabelName(key, here / "key", errors);
    if (key.empty() && op != "Exists") {
      errors->push_back(Invalid((here / "operator").str(), op,
                                "operator must be Exists when `key` is empty, which means \"match all values and all "
                                "keys\""));
    }
    const Value* seconds = t.Find("tolerationSeconds");
    if (seconds != nullptr && effect != "NoExecute") {
      errors->push_back(
          Invalid((here / "effect").str(), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
    if (op.empty() || op == "Equal") {
      for (const std::string& p : api::LabelValueProblems(value))
        errors->push_back(Invalid((here / "operator").str(), value, p));
    } else if (op == "Exists") {
      if (!value.empty()) {
        errors->push_back(
            InvalidRaw((here / "operator").str(),
                       absl::StrCat("core.Toleration{Key:", util::GoQuoted(key), ", Operator:", util::GoQuoted(op),
                                    ", Value:", util::GoQuoted(value), ", Effect:", util::GoQuoted(effect),
                                    ", TolerationSeconds:(*int64)(nil)}"),
                       "value must be empty when `operator` is 'Exists'"));
      }
    } else {
      errors->push_back(NotSupported((here / "operator").str(), op, {"Equal", "Exists"}));
    }
    if (!effect.empty() && effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute")
      errors->push_back(NotSupported((here / "effect").str(), effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"}));
  }
}

void ValidateContainerResources(const Value& spec, const Path& at, Version release, FieldErrors* errors) {
  for (std::string_view which : {"containers", "initContainers"}) {
    const Value& containers = OrEmpty(spec.Find(which));
    const Path list = at / which;
    for (size_t i = 0; i < containers.items.size(); ++i) {
      const Path here = list[i];
      ResourceAmounts(OrEmpty(containers.items[i].Find("resources")), here / "resources", release, errors);
    }
  }
}

void ValidatePodSpec(const Value& spec, const Path& at, Version release, FieldErrors* errors,
                     std::set<std::string_view> claims) {
  std::set<std::string_view>& volumes = claims;
  ValidateVolumes(spec, at / "volumes", release, &volumes, errors);
  std::set<std::string> names;
  Containers(spec, "containers", at / "containers", volumes, release, &names, errors);
  Containers(spec, "initContainers", at / "initContainers", volumes, release, &names, errors);
  if (kOneSizeOfHugePages.Has(release)) OneSizeOfHugePages(spec, at, errors);
  std::string_view restart = spec.Str("restartPolicy");
  if (restart != "Always" && restart != "OnFailure" && restart != "Never") {
    errors->push_back(restart.empty()
                          ? Required((at / "restartPolicy").str())
                          : NotSupported((at / "restartPolicy").str(), restart, {"Always", "OnFailure", "Never"}));
  }
  std::vector<std::string> dns_policies = {"ClusterFirstWithHostNet", "ClusterFirst", "Default"};
  if (kCustomDns.Has(release)) dns_policies.emplace_back("None");
  std::string_view dns = spec.Str("dnsPolicy");
  if (std::find(dns_policies.begin(), dns_policies.end(), dns) == dns_policies.end()) {
    errors->push_back(dns.empty() ? Required((at / "dnsPolicy").str())
                                  : NotSupported((at / "dnsPolicy").str(), dns, dns_policies));
  }
  ValidateLabels(spec.Find("nodeSelector"), at / "nodeSelector", errors);
  HostNetworkPorts(spec, at, errors);
  NamesOfPod(spec, at, release, errors);
  if (const Value* affinity = spec.Find("affinity")) ValidateAffinity(*affinity, at / "affinity", release, errors);
  std::string_view node = spec.Str("nodeName");
  if (!node.empty()) {
    for (const std::string& p : api::Dns1123SubdomainProblems(node))
      errors->push_back(Invalid((at / "nodeName").str(), node, p));
  }
  ValidateTolerations(spec.Find("tolerations"), at / "tolerations", errors);
  std::string_view priority = spec.Str("priorityClassName");
  if (!priority.empty()) {
    for (const std::string& p : api::Dns1123SubdomainProblems(priority))
      errors->push_back(Invalid((at / "priorityClassName").str(), priority, p));
  }
  if (kChecksNewPodFields.Has(release)) ValidateAddedPodFields(spec, at, release, errors);
}

// Sets the fields that may change in a copy of the new spec to their old values. If the copy then still differs from
// the old spec, something else was changed, and the error shows both.
void ValidatePodUpdate(const Value& pod, const Value& old, Version release, FieldErrors* errors) {
  const Value& spec = OrEmpty(pod.Find("spec"));
  const Value& before = OrEmpty(old.Find("spec"));
  Value munged = spec;
  for (std::string_view which : {"containers", "initContainers"}) {
    Value* now = munged.Find(which);
    const Value& then = OrEmpty(before.Find(which));
    size_t n = now == nullptr ? 0 : now->items.size();
    if (n != then.items.size()) {
      errors->push_back(
          Forbidden(absl::StrCat("spec.", std::string(which)), "pod updates may not add or remove containers"));
      return;
    }
    for (size_t i = 0; i < n; ++i) {
      if (now->items[i].Str("image").empty())
        errors->push_back(Required(absl::StrCat("spec.", std::string(which), "[", i, "].image")));
      now->items[i].Set("image", Value::String(then.items[i].Str("image")));
    }
  }
  auto restore = [&](std::string_view key) {
    munged.Erase(key);
    if (const Value* v = before.Find(key)) munged.Set(key, *v);
  };
  restore("activeDeadlineSeconds");
  if (kGatedChanges.Has(release)) AllowGatedChanges(spec, before, &munged, errors);
  // Tolerations may be added but not removed. The seconds of a toleration may change.
  const auto without_seconds = [](Value t) {
    t.Erase("tolerationSeconds");
    return ToSortedJson(t);
  };
  std::set<std::string> tolerations;
  for (const Value& t : OrEmpty(spec.Find("tolerations")).items) tolerations.insert(without_seconds(t));
  bool only_added = true;
  for (const Value& t : OrEmpty(before.Find("tolerations")).items) {
    only_added = only_added && tolerations.contains(without_seconds(t));
  }
  if (only_added) {
    ValidateTolerations(spec.Find("tolerations"), Path("spec.tolerations"), errors);
    restore("tolerations");
  }
  const TypeDef& type = TypeOf("PodSpec", release);
  std::string a, b;
  Encode(munged, type, &a);
  Encode(before, type, &b);
  if (a == b) return;
  a = GoDump(&munged, type);
  b = GoDump(&before, type);
  size_t same = static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  errors->push_back(Forbidden(
      "spec", absl::StrCat("pod updates may not change fields other than `spec.containers[*].image`, "
                           "`spec.initContainers[*].image`, `spec.activeDeadlineSeconds` or `spec.tolerations` (only "
                           "additions to existing tolerations)\n",
                           a.substr(0, same), "\n\nA: ", a.substr(same), "\n\nB: ", b.substr(same), "\n\n")));
}

}  // namespace berth::validation
