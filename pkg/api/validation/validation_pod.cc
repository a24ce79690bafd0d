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
  const std::vector<std::string> problems = api::QualifiedNameProblems(name);
  AddProblems(problems, at, name, errors);
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
    errors->push_back(Invalid(at, name, "must be a standard resource type or fully qualified"));
  if (!container) errors->push_back(Invalid(at, name, "must be a standard resource for containers"));
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
    EachEntry(resources, which, at, [&](const std::string& name, const Value& value, const Path& here) {
      others = others || name == "cpu" || name == "memory";
      if (!IsHugePages(name)) return;
      huge = true;
      const auto amount = api::Quantity::Parse(value.text());
      if (!kWholeHugePages.Has(release) || !amount.ok() || IsWholePages(name, *amount)) return;
      errors->push_back(Invalid(here, amount->String(),
                                absl::StrCat(amount->String(), " is not positive integer multiple of ", name)));
    });
  }
  if (huge && !others && kHugePagesNeedOthers.Has(release)) {
    errors->push_back(Forbidden(at, "HugePages require cpu or memory"));
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
  errors->push_back(InvalidRaw(at, map + "}", "must use a single hugepage size in a pod spec"));
}

void ResourceAmounts(const Value& resources, const Path& at, Version release, FieldErrors* errors) {
  constexpr std::string_view kGpu = "alpha.kubernetes.io/nvidia-gpu";
  const Value& limits = OrEmpty(resources.Find("limits"));
  const auto check = [&](const std::string& name, const Value& amount, const Path& here) {
    ResourceName(name, here, errors);
    ValidateQuantity(name, amount.text(), here, errors);
  };
  EachEntry(resources, "limits", at, check);
  EachEntry(resources, "requests", at, [&](const std::string& name, const Value& amount, const Path& here) {
    check(name, amount, here);
    bool overcommit = IsNative(name) && !IsHugePages(name) && (name != kGpu || !kGpuIsExtended.Has(release));
    const Value* limit = limits.Find(name);
    if (limit == nullptr && !overcommit) {
      errors->push_back(Required(at / "limits", "Limit must be set for non overcommitable resources"));
    }
    if (limit == nullptr) return;
    auto q = api::Quantity::Parse(amount.text());
    auto l = api::Quantity::Parse(limit->text());
    if (!q.ok() || !l.ok()) return;
    const bool must_be_equal = !overcommit && *q != *l;
    if (!must_be_equal && *q <= *l) return;
    errors->push_back(Invalid(at / "requests", q->String(),
                              absl::StrCat(must_be_equal ? "must be equal to " : "must be less than or equal to ", name,
                                           " limit", kNamesLimits.Has(release) ? " of " + l->String() : "")));
  });
  HugePages(resources, at, release, errors);
}

// Checks the name of a container's port: it is one of IANA's service names, and no other port of the container has it.
void PortName(const std::string& name, const Path& at, std::set<std::string>* taken, FieldErrors* errors) {
  const std::vector<std::string> problems = PortNameProblems(name);
  AddProblems(problems, at, name, errors);
  if (problems.empty() && !taken->insert(name).second) errors->push_back(Duplicate(at, name));
}

void Ports(const Value& container, const Path& at, Version release, FieldErrors* errors) {
  std::set<std::string> names;
  EachOf(container, "ports", at, [&](const Value& p, const Path& here) {
    if (const std::string name(p.Str("name")); !name.empty()) PortName(name, here / "name", &names, errors);
    if (IntOf(p, "containerPort") == 0) {
      errors->push_back(Required(here / "containerPort"));
    } else {
      ValidatePort(IntOf(p, "containerPort"), here / "containerPort", errors);
    }
    if (IntOf(p, "hostPort") != 0) ValidatePort(IntOf(p, "hostPort"), here / "hostPort", errors);
    const std::vector<std::string_view> protocols = ProtocolsOf(release);
    if (p.Str("protocol").empty()) errors->push_back(NotSupported(here / "protocol", "", protocols));
    ValidateWord(p, "protocol", here, protocols, errors);
  });
}

void Containers(const Value& spec, std::string_view which, const Path& at, const std::set<std::string_view>& volumes,
                Version release, std::set<std::string>* names, FieldErrors* errors) {
  if (which == "containers" && OrEmpty(spec.Find(which)).items.empty()) {
    return errors->push_back(Required(at / which));
  }
  EachOf(spec, which, at, [&](const Value& c, const Path& here) {
    ValidateNameInList(c.Str("name"), here / "name", names, errors);
    if (c.Str("image").empty()) errors->push_back(Required(here / "image"));
    ValidateHooks(c, which == "initContainers", here, release, errors);
    Ports(c, here, release, errors);
    ValidateInsideOfContainer(c, here, volumes, release, errors);
    ResourceAmounts(OrEmpty(c.Find("resources")), here / "resources", release, errors);
  });
  // Host ports must be unique over all containers. Init containers do not run at the same time.
  std::set<std::string> taken;
  EachOf(spec, which, at, [&](const Value& c, const Path& container) {
    if (which == "initContainers") taken.clear();
    EachOf(c, "ports", container, [&](const Value& p, const Path& here) {
      const int64_t port = IntOf(p, "hostPort");
      if (port == 0) return;
      std::string key = absl::StrCat(std::string(p.Str("protocol")), "/", std::string(p.Str("hostIP")), "/", port);
      if (!taken.insert(key).second) errors->push_back(Duplicate(here / "hostPort", key));
    });
  });
}

void HostNetworkPorts(const Value& spec, const Path& at, FieldErrors* errors) {
  if (!OrEmpty(spec.Find("hostNetwork")).AsBool()) return;
  EachOf(spec, "containers", at, [&](const Value& c, const Path& container) {
    EachOf(c, "ports", container, [&](const Value& p, const Path& here) {
      const int64_t port = IntOf(p, "containerPort");
      if (IntOf(p, "hostPort") == port) return;
      errors->push_back(InvalidRaw(here / "containerPort", port, "must match `hostPort` when `hostNetwork` is true"));
    });
  });
}

void Weight(const Value& term, const Path& at, FieldErrors* errors) {
  const int64_t w = IntOf(term, "weight");
  if (w < 1 || w > 100) errors->push_back(InvalidRaw(at / "weight", w, "must be in the range 1-100"));
}

void PodAffinityTerm(const Value& term, const Path& at, FieldErrors* errors) {
  ValidateLabelSelector(term.Find("labelSelector"), at / "matchExpressions", errors);
  ValidateLabelSelector(term.Find("namespaceSelector"), at / "namespaceSelector", errors);
  std::string_view key = term.Str("topologyKey");
  if (key.empty()) errors->push_back(Required(at / "topologyKey", "can not be empty"));
  ValidateLabelName(key, at / "topologyKey", errors);
}

void ValidateAffinity(const Value& affinity, const Path& at, Version release, FieldErrors* errors) {
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  if (const Value* node = affinity.Find("nodeAffinity")) {
    const Path here = at / "nodeAffinity";
    if (const Value* required = node->Find(kRequired)) {
      ValidateNodeSelector(*required, here / kRequired, release, errors);
    }
    EachOf(*node, kPreferred, here, [&](const Value& e, const Path& term) {
      Weight(e, term, errors);
      ValidateNodeSelectorTerm(OrEmpty(e.Find("preference")), term / "preference", release, errors);
    });
  }
  for (std::string_view which : {"podAffinity", "podAntiAffinity"}) {
    const Value& pod = OrEmpty(affinity.Find(which));
    const Path here = at / which;
    EachOf(pod, kRequired, here, [&](const Value& e, const Path& term) { PodAffinityTerm(e, term, errors); });
    EachOf(pod, kPreferred, here, [&](const Value& e, const Path& term) {
      Weight(e, term, errors);
      PodAffinityTerm(OrEmpty(e.Find("podAffinityTerm")), term / "podAffinityTerm", errors);
    });
  }
}

// Checks members that are names of something else, and the pod's time to live and name servers.
void NamesOfPod(const Value& spec, const Path& at, Version release, FieldErrors* errors) {
  const auto check = [&](std::string_view member, auto problems_of) {
    const std::string_view name = spec.Str(member);
    if (!name.empty()) AddProblems(problems_of(name), at / member, name, errors);
  };
  check("serviceAccountName", api::Dns1123SubdomainProblems);
  check("hostname", DnsLabelProblems);
  check("subdomain", DnsLabelProblems);
  check("runtimeClassName", api::Dns1123SubdomainProblems);
  EachOf(spec, "imagePullSecrets", at, [&](const Value& secret, const Path& here) {
    if (secret.Str("name").empty()) errors->push_back(Required(here / "name"));
  });
  constexpr int64_t kLongest = 2147483647;
  const Value* seconds = spec.Find("activeDeadlineSeconds");
  if (seconds != nullptr && seconds->IsNumber() && (seconds->AsInt() < 1 || seconds->AsInt() > kLongest)) {
    errors->push_back(InvalidRaw(at / "activeDeadlineSeconds", seconds->text(),
                                 absl::StrCat("must be between 1 and ", kLongest, ", inclusive")));
  }
  if (spec.Str("dnsPolicy") == "None" && kCustomDns.Has(release)) {
    const Path dns = at / "dnsConfig";
    const Value* config = spec.Find("dnsConfig");
    if (config == nullptr || !config->IsObject()) {
      errors->push_back(Required(dns, "must provide `dnsConfig` when `dnsPolicy` is None"));
    } else if (OrEmpty(config->Find("nameservers")).empty()) {
      errors->push_back(
          Required(dns / "nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None"));
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
  const auto wrong = [&](bool is, std::string_view why) {
    if (is) problems.emplace_back(why);
  };
  wrong(name.size() > kLongestPortName, absl::StrCat("must be no more than ", kLongestPortName, " characters"));
  wrong(!std::all_of(name.begin(), name.end(), known),
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  wrong(std::none_of(name.begin(), name.end(), letter), "must contain at least one letter (a-z)");
  wrong(name.find("--") != std::string::npos, "must not contain consecutive hyphens");
  wrong(name.front() == '-' || name.back() == '-', "must not begin or end with a hyphen");
  return problems;
}

void ValidatePort(int64_t port, const Path& at, FieldErrors* errors) {
  constexpr int kMostPort = 65535;
  if (port < 1 || port > kMostPort) {
    errors->push_back(InvalidRaw(at, port, "must be between 1 and 65535, inclusive"));
  }
}

void ValidatePortOrName(const Value* port, const Path& at, FieldErrors* errors) {
  if (!OrEmpty(port).IsString()) return ValidatePort(OrEmpty(port).AsInt(), at, errors);
  if (port->text().empty()) return errors->push_back(Invalid(at, "", "must be no less than 1 characters"));
  AddProblems(PortNameProblems(port->text()), at, port->text(), errors);
}

std::vector<std::string_view> ProtocolsOf(Version release) {
  if (!kSctpIsAProtocol.Has(release)) return {"TCP", "UDP"};
  return {"SCTP", "TCP", "UDP"};
}

void ValidateTolerations(const Value& spec, const Path& at, FieldErrors* errors) {
  EachOf(spec, "tolerations", at, [&](const Value& t, const Path& here) {
    std::string_view key = t.Str("key"), op = t.Str("operator"), value = t.Str("value"), effect = t.Str("effect");
    if (!key.empty()) ValidateLabelName(key, here / "key", errors);
    if (key.empty() && op != "Exists") {
      errors->push_back(Invalid(here / "operator", op,
                                "operator must be Exists when `key` is empty, which means \"match all values and all "
                                "keys\""));
    }
    if (t.Find("tolerationSeconds") != nullptr && effect != "NoExecute") {
      errors->push_back(Invalid(here / "effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
    if (op.empty() || op == "Equal") {
      AddProblems(api::LabelValueProblems(value), here / "operator", value, errors);
    } else if (op != "Exists") {
      errors->push_back(NotSupported(here / "operator", op, {"Equal", "Exists"}));
    } else if (!value.empty()) {
      errors->push_back(
          InvalidRaw(here / "operator",
                     absl::StrCat("core.Toleration{Key:", util::GoQuoted(key), ", Operator:", util::GoQuoted(op),
                                  ", Value:", util::GoQuoted(value), ", Effect:", util::GoQuoted(effect),
                                  ", TolerationSeconds:(*int64)(nil)}"),
                     "value must be empty when `operator` is 'Exists'"));
    }
    ValidateWord(t, "effect", here, {"NoSchedule", "PreferNoSchedule", "NoExecute"}, errors);
  });
}

void ValidateContainerResources(const Value& spec, const Path& at, Version release, FieldErrors* errors) {
  for (std::string_view which : {"containers", "initContainers"}) {
    EachOf(spec, which, at, [&](const Value& c, const Path& here) {
      ResourceAmounts(OrEmpty(c.Find("resources")), here / "resources", release, errors);
    });
  }
}

void ValidatePodSpec(const Value& spec, const Path& at, Version release, FieldErrors* errors,
                     std::set<std::string_view> claims) {
  std::set<std::string_view>& volumes = claims;
  ValidateVolumes(spec, at, release, &volumes, errors);
  std::set<std::string> names;
  Containers(spec, "containers", at, volumes, release, &names, errors);
  Containers(spec, "initContainers", at, volumes, release, &names, errors);
  if (kOneSizeOfHugePages.Has(release)) OneSizeOfHugePages(spec, at, errors);
  ValidateNeededWord(spec, "restartPolicy", at, {"Always", "OnFailure", "Never"}, errors);
  std::vector<std::string_view> dns_policies = {"ClusterFirstWithHostNet", "ClusterFirst", "Default"};
  if (kCustomDns.Has(release)) dns_policies.emplace_back("None");
  ValidateNeededWord(spec, "dnsPolicy", at, dns_policies, errors);
  ValidateLabels(spec.Find("nodeSelector"), at / "nodeSelector", errors);
  HostNetworkPorts(spec, at, errors);
  NamesOfPod(spec, at, release, errors);
  if (const Value* affinity = spec.Find("affinity")) ValidateAffinity(*affinity, at / "affinity", release, errors);
  const auto check = [&](std::string_view member) {
    const std::string_view name = spec.Str(member);
    if (!name.empty()) AddProblems(api::Dns1123SubdomainProblems(name), at / member, name, errors);
  };
  check("nodeName");
  ValidateTolerations(spec, at, errors);
  check("priorityClassName");
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
  SetAsIn(before, "activeDeadlineSeconds", &munged);
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
    ValidateTolerations(spec, "spec", errors);
    SetAsIn(before, "tolerations", &munged);
  }
  const TypeDef& type = TypeOf("PodSpec", release);
  if (EncodeAlike(munged, before, type)) return;
  const std::string a = GoDump(&munged, type), b = GoDump(&before, type);
  size_t same = static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  errors->push_back(Forbidden(
      "spec", absl::StrCat("pod updates may not change fields other than `spec.containers[*].image`, "
                           "`spec.initContainers[*].image`, `spec.activeDeadlineSeconds` or `spec.tolerations` (only "
                           "additions to existing tolerations)\n",
                           a.substr(0, same), "\n\nA: ", a.substr(same), "\n\nB: ", b.substr(same), "\n\n")));
}

}  // namespace berth::validation
