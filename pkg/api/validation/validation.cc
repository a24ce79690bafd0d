// Each function adds its errors in the order in which the server finds them, because the order is part of the answer.
#include "pkg/api/validation/validation.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>
#include <utility>

#include "pkg/api/labels.h"
#include "pkg/api/quantity.h"
#include "pkg/api/validation/schema.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::validation {
namespace {

constexpr size_t kMostAnnotationBytes = 256 * 1024;
constexpr size_t kLongestLabel = 63;

bool IsDnsLabel(std::string_view s, bool letter_first) {
  if (s.empty() || s.size() > kLongestLabel || s.front() == '-' || s.back() == '-') return false;
  if (letter_first && !(s.front() >= 'a' && s.front() <= 'z')) return false;
  return std::all_of(s.begin(), s.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

void ValidateName(const ResourceInfo& r, std::string_view name, const Path& at, FieldErrors* errors) {
  static constexpr std::string_view kLabel1035 =
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
      "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
      "'[a-z]([-a-z0-9]*[a-z0-9])?')";
  if (r.kind == "Namespace" || r.kind == "Service") {
    const bool service = r.kind == "Service" && !kRelaxedServiceNames.Has(r.release);
    if (!service) return AddProblems(DnsLabelProblems(name), at, name, errors);
    if (name.size() > kLongestLabel) errors->push_back(Invalid(at, name, "must be no more than 63 characters"));
    if (!IsDnsLabel(name.substr(0, kLongestLabel), true)) errors->push_back(Invalid(at, name, kLabel1035));
    return;
  }
  if (r.kind == "Event" || r.kind == "Role" || r.kind == "ClusterRole" || r.kind == "RoleBinding" ||
      r.kind == "ClusterRoleBinding") {
    // Any part of a path will do: "system:kube-scheduler".
    if (name == "." || name == "..") {
      errors->push_back(Invalid(at, name, absl::StrCat("may not be '", std::string(name), "'")));
    }
    for (const char* part : {"/", "%"}) {
      if (name.find(part) == std::string_view::npos) continue;
      errors->push_back(Invalid(at, name, absl::StrCat("may not contain '", part, "'")));
    }
    return;
  }
  AddProblems(api::Dns1123SubdomainProblems(name), at, name, errors);
}

void ValidateTaints(const Value& spec, FieldErrors* errors) {
  std::set<std::pair<std::string, std::string>> seen;
  EachOf(spec, "taints", "metadata", [&](const Value& t, const Path& here) {
    ValidateLabelName(t.Str("key"), here / "key", errors);
    AddProblems(api::LabelValueProblems(t.Str("value")), here / "value", t.Str("value"), errors);
    ValidateNeededWord(t, "effect", here, {"NoSchedule", "PreferNoSchedule", "NoExecute"}, errors);
    if (seen.emplace(t.Str("key"), t.Str("effect")).second) return;
    errors->push_back(DuplicateRaw(
        here,
        absl::StrCat("core.Taint{Key:", util::GoQuoted(t.Str("key")), ", Value:", util::GoQuoted(t.Str("value")),
                     ", Effect:", util::GoQuoted(t.Str("effect")), ", TimeAdded:<nil>}"),
        "taints must be unique by key and effect pair"));
  });
}

void ValidateNode(const Value& node, Version release, FieldErrors* errors) {
  constexpr std::string_view kAvoid = "scheduler.alpha.kubernetes.io/preferAvoidPods";
  if (const Value* avoid = node.At({"metadata", "annotations", kAvoid})) {
    auto parsed = ParseJson(avoid->text());
    if (!parsed.ok()) {
      errors->push_back(Invalid("metadata.annotations.AvoidPods", kAvoid, util::Message(parsed.status())));
    }
  }
  const Value &spec = OrEmpty(node.Find("spec")), &status = OrEmpty(node.Find("status"));
  ValidateTaints(spec, errors);
  for (std::string_view which : {"capacity", "allocatable"}) {
    EachEntry(status, which, "status", [&](const std::string& name, const Value& amount, const Path&) {
      ValidateQuantity(name, amount.text(), absl::StrCat("status.", std::string(which), ".", name), errors);
    });
  }
  if (kExternalIds.Has(release) && spec.Str("externalID").empty()) errors->push_back(Required("spec.externalID"));
}

// Copies the members that may change from the new spec to the old one. If the two then still differ, something else was
// changed.
void ValidateNodeUpdate(const Value& node, const Value& old, const TypeDef& type, FieldErrors* errors) {
  Value before = OrEmpty(old.Find("spec"));
  const Value& now = OrEmpty(node.Find("spec"));
  for (std::string_view key : {"podCIDR", "providerID"}) {
    if (before.Str(key).empty() || before.Str(key) == now.Str(key)) continue;
    errors->push_back(
        Forbidden(absl::StrCat("spec.", std::string(key)),
                  absl::StrCat("node updates may not change ", std::string(key), " except from \"\" to valid")));
  }
  for (std::string_view key : {"podCIDR", "providerID", "externalID"}) {
    if (before.Str(key).empty() && now.Find(key) != nullptr) before.Set(key, *now.Find(key));
  }
  if (const Value* ranges = now.Find("podCIDRs"); ranges != nullptr && OrEmpty(before.Find("podCIDRs")).items.empty())
    before.Set("podCIDRs", *ranges);
  for (std::string_view key : {"unschedulable", "taints", "configSource"}) SetAsIn(now, key, &before);
  if (!EncodeAlike(before, now, type)) {
    errors->push_back(Forbidden("[]",
                                "node updates may only change labels, taints, or capacity (or configSource, if the "
                                "DynamicKubeletConfig feature gate is enabled)"));
  }
}

void ValidateEvent(const Value& event, FieldErrors* errors) {
  std::string_view of = OrEmpty(event.Find("involvedObject")).Str("namespace");
  std::string_view ns = event.Find("metadata")->Str("namespace");
  // Events about cluster-wide objects are in "default", and new ones, which have a time, may be in "kube-system".
  const bool is_new = !event.Str("eventTime").empty();
  const bool agree = is_new       ? of.empty() ? ns == "default" || ns == "kube-system" : true
                     : of.empty() ? ns == "default"
                                  : of == ns;
  if (!agree) errors->push_back(Invalid("involvedObject.namespace", of, "does not match event.namespace"));
}

}  // namespace

std::vector<std::string> DnsLabelProblems(std::string_view name) {
  std::vector<std::string> problems;
  if (name.size() > kLongestLabel) problems.emplace_back("must be no more than 63 characters");
  if (!IsDnsLabel(name.substr(0, kLongestLabel), false)) {
    problems.emplace_back(
        "a DNS-1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an "
        "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
  }
  return problems;
}

int64_t IntOf(const Value& v, std::string_view member) {
  return OrEmpty(v.Find(member)).AsInt();
}

bool AreAlike(const Value* a, const Value* b) {
  return (a == nullptr ? "" : ToSortedJson(*a)) == (b == nullptr ? "" : ToSortedJson(*b));
}

void SetAsIn(const Value& from, std::string_view member, Value* to) {
  to->Erase(member);
  if (const Value* v = from.Find(member)) to->Set(member, *v);
}

void AddProblems(const std::vector<std::string>& problems, const Path& at, std::string_view value,
                 FieldErrors* errors) {
  for (const std::string& p : problems) errors->push_back(Invalid(at, value, p));
}

void ValidateWord(const Value& v, std::string_view member, const Path& at, const Words& known, FieldErrors* errors) {
  if (!v.Str(member).empty()) ValidateNeededWord(v, member, at, known, errors);
}

void ValidateNeededWord(const Value& v, std::string_view member, const Path& at, const Words& known,
                        FieldErrors* errors) {
  const std::string_view value = v.Str(member);
  if (value.empty()) {
    errors->push_back(Required(at / member));
  } else if (!known.Have(value)) {
    errors->push_back(NotSupported(at / member, value, known));
  }
}

void ValidateNotNegative(const Value& v, std::initializer_list<std::string_view> members, const Path& at,
                         FieldErrors* errors) {
  for (std::string_view member : members) {
    if (IntOf(v, member) >= 0) continue;
    errors->push_back(InvalidRaw(at / member, v.Find(member)->text(), "must be greater than or equal to 0"));
  }
}

void ValidateNameInList(std::string_view name, const Path& at, std::set<std::string>* taken, FieldErrors* errors) {
  if (name.empty()) return errors->push_back(Required(at));
  AddProblems(DnsLabelProblems(name), at, name, errors);
  if (!taken->emplace(name).second) errors->push_back(Duplicate(at, name));
}

void ValidateLabelName(std::string_view name, const Path& at, FieldErrors* errors) {
  AddProblems(api::QualifiedNameProblems(name), at, name, errors);
}

void ValidateLabels(const Value* labels, const Path& at, FieldErrors* errors) {
  if (labels == nullptr) return;
  for (size_t i = 0; i < labels->keys.size(); ++i) {
    ValidateLabelName(labels->keys[i], at, errors);
    AddProblems(api::LabelValueProblems(labels->items[i].text()), at, labels->items[i].text(), errors);
  }
}

void ValidateObjectMeta(const ResourceInfo& r, const Value& object, FieldErrors* errors) {
  const Value& meta = OrEmpty(object.Find("metadata"));
  const Path at("metadata");
  std::string_view name = meta.Str("name");
  if (name.empty()) {
    errors->push_back(Required("metadata.name", "name or generateName is required"));
  } else {
    ValidateName(r, name, at / "name", errors);
  }
  std::string_view ns = meta.Str("namespace");
  if (r.namespaced && ns.empty()) {
    errors->push_back(Required("metadata.namespace"));
  } else if (r.namespaced) {
    ValidateName(Catalog::Of(r.release).Core("namespaces"), ns, at / "namespace", errors);
  }
  ValidateLabels(meta.Find("labels"), at / "labels", errors);
  size_t total = 0;
  EachEntry(meta, "annotations", at, [&](const std::string& key, const Value& text, const Path&) {
    std::string lower = key;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    AddProblems(api::QualifiedNameProblems(lower), "metadata.annotations", key, errors);
    total += key.size() + text.text().size();
  });
  if (total > kMostAnnotationBytes) errors->push_back(TooLong("metadata.annotations", kMostAnnotationBytes));
}

namespace {

void Requirement(const Value& e, const Path& at, bool node, FieldErrors* errors) {
  std::string_view op = e.Str("operator");
  const size_t n = OrEmpty(e.Find("values")).items.size();
  if (op == "In" || op == "NotIn") {
    if (n == 0) {
      errors->push_back(Required(at / "values", "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (n > 0) {
      errors->push_back(Forbidden(at / "values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
  } else if (node && (op == "Gt" || op == "Lt")) {
    if (n != 1) {
      errors->push_back(Required(at / "values", "must be specified single value when `operator` is 'Lt' or 'Gt'"));
    }
  } else {
    errors->push_back(Invalid(at / "operator", op, "not a valid selector operator"));
  }
  ValidateLabelName(e.Str("key"), at / "key", errors);
}

// Checks one of a node selector term's matchFields: only the node's name can be selected, and only one name at a time.
void FieldRequirement(const Value& e, const Path& at, FieldErrors* errors) {
  std::string_view op = e.Str("operator"), key = e.Str("key");
  if (op != "In" && op != "NotIn") {
    errors->push_back(Invalid(at / "operator", op, "not a valid selector operator"));
  } else if (OrEmpty(e.Find("values")).items.size() != 1) {
    errors->push_back(
        Required(at / "values", "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
  }
  if (key != "metadata.name") {
    return errors->push_back(Invalid(at / "key", key, "not a valid field selector key"));
  }
  EachOf(e, "values", at, [&](const Value& value, const Path& here) {
    AddProblems(api::Dns1123SubdomainProblems(value.text()), here, value.text(), errors);
  });
}

}  // namespace

void ValidateLabelSelector(const Value* selector, const Path& at, FieldErrors* errors) {
  if (selector == nullptr || selector->IsNull()) return;
  ValidateLabels(selector->Find("matchLabels"), at / "matchLabels", errors);
  EachOf(*selector, "matchExpressions", at,
         [&](const Value& e, const Path& here) { Requirement(e, here, false, errors); });
}

void ValidateNodeSelectorTerm(const Value& term, const Path& at, Version release, FieldErrors* errors) {
  if (OrEmpty(term.Find("matchExpressions")).empty() && kTermsNeedExpressions.Has(release)) {
    errors->push_back(Required(at / "matchExpressions", "must have at least one node selector requirement"));
  }
  EachOf(term, "matchExpressions", at, [&](const Value& e, const Path& here) { Requirement(e, here, true, errors); });
  EachOf(term, "matchFields", at, [&](const Value& e, const Path& here) { FieldRequirement(e, here, errors); });
}

void ValidateNodeSelector(const Value& selector, const Path& at, Version release, FieldErrors* errors) {
  if (OrEmpty(selector.Find("nodeSelectorTerms")).empty()) {
    errors->push_back(Required(at / "nodeSelectorTerms", "must have at least one node selector term"));
  }
  EachOf(selector, "nodeSelectorTerms", at,
         [&](const Value& term, const Path& here) { ValidateNodeSelectorTerm(term, here, release, errors); });
}

bool IsExtendedResource(std::string_view name) {
  return name.find('/') != std::string_view::npos && name.find("kubernetes.io/") == std::string_view::npos;
}

void ValidateQuantity(std::string_view resource, std::string_view quantity, const Path& at, FieldErrors* errors) {
  auto q = api::Quantity::Parse(quantity);
  if (!q.ok()) return;  // decoding has reported it
  if (q->Sign() < 0) errors->push_back(Invalid(at, quantity, "must be greater than or equal to 0"));
  static const std::set<std::string_view> kCounted = {"pods",
                                                      "services",
                                                      "replicationcontrollers",
                                                      "secrets",
                                                      "configmaps",
                                                      "persistentvolumeclaims",
                                                      "services.nodeports",
                                                      "services.loadbalancers"};
  bool counted = IsExtendedResource(resource) || kCounted.contains(resource);
  if (counted && q->MilliValue() % 1000 != 0) {
    // 1.10 prints its own representation of the quantity here.
    std::string_view digits = quantity.ends_with('m') ? quantity.substr(0, quantity.size() - 1) : quantity;
    errors->push_back(InvalidRaw(at,
                                 absl::StrCat("resource.Quantity{i:resource.int64Amount{value:", std::string(digits),
                                              ", scale:-3}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:",
                                              util::GoQuoted(quantity), ", Format:\"DecimalSI\"}"),
                                 "must be an integer"));
  }
}

namespace {

void ValidatePriorityClass(const Value& object, FieldErrors* errors) {
  constexpr int64_t kHighestOfUsers = 1'000'000'000;
  std::string_view name = OrEmpty(object.Find("metadata")).Str("name");
  bool system = name == "system-cluster-critical" || name == "system-node-critical";
  if (!system && name.starts_with("system-")) {
    errors->push_back(Forbidden("metadata.name",
                                absl::StrCat("priority class names with 'system-' prefix are reserved for system use "
                                             "only. error: ",
                                             util::ToAbsl(name), " is not a known system priority class")));
  } else if (!system && IntOf(object, "value") > kHighestOfUsers) {
    errors->push_back(
        Forbidden("value", absl::StrCat("maximum allowed value of a user defined priority is ", kHighestOfUsers)));
  }
  ValidateWord(object, "preemptionPolicy", "", {"PreemptLowerPriority", "Never"}, errors);
}

// Says what is wrong with names in the words of the release.
FieldErrors InWordsOf(Version release, FieldErrors errors) {
  constexpr std::string_view kBefore = "a DNS-1123 ", kNow = "a lowercase RFC 1123 ";
  if (!kSaysLowercase.Has(release)) return errors;
  for (FieldError& e : errors) {
    const size_t at = e.message.find(kBefore);
    if (at != std::string::npos) e.message.replace(at, kBefore.size(), kNow);
  }
  return errors;
}

// Checks the kinds whose updates are checked as their creation is, and compared with what was there before.
void ValidateOther(const ResourceInfo& r, const Value& object, const Value* old, FieldErrors* errors) {
  const FieldDef* spec = r.type->Find("spec");
  if (r.kind == "Service") {
    ValidateService(object, old, r.release, errors);
  } else if (r.kind == "PersistentVolume") {
    ValidateVolume(object, old, r.release, errors);
  } else if (r.kind == "PersistentVolumeClaim") {
    ValidateClaim(object, old, r.release, errors);
  } else if (r.kind == "StorageClass") {
    ValidateStorageClass(object, old, errors);
  } else if (r.kind == "ConfigMap" || r.kind == "Secret") {
    ValidateConfiguration(object, old, errors);
  } else if (r.kind == "CronJob") {
    ValidateCronJob(object, r.release, errors);
  } else if (spec != nullptr && spec->kind == FieldDef::Kind::kStruct && spec->type->Find("template") != nullptr) {
    ValidateWorkload(object, r, old, errors);
  }
}

}  // namespace

FieldErrors ValidateCreate(const ResourceInfo& r, const Value& object) {
  FieldErrors errors;
  ValidateObjectMeta(r, object, &errors);
  if (r.kind == "Pod") {
    ValidatePodSpec(OrEmpty(object.Find("spec")), "spec", r.release, &errors);
  } else if (r.kind == "Node") {
    ValidateNode(object, r.release, &errors);
  } else if (r.kind == "Event") {
    ValidateEvent(object, &errors);
  } else if (r.kind == "PriorityClass" && kChecksPriorityClasses.Has(r.release)) {
    ValidatePriorityClass(object, &errors);
  } else if (r.kind == "PodDisruptionBudget") {
    ValidateBudget(object, &errors);
  } else {
    ValidateOther(r, object, nullptr, &errors);
  }
  return InWordsOf(r.release, std::move(errors));
}

FieldErrors ValidateUpdate(const ResourceInfo& r, const Value& object, const Value& old) {
  FieldErrors errors;
  ValidateObjectMeta(r, object, &errors);
  const Value* meta = object.Find("metadata");
  std::string_view uid = meta->Str("uid");
  if (uid != old.Find("metadata")->Str("uid")) {
    // Release 1.10 checks this twice: in its generic code and in that of the kind.
    for (int i = 0; i < 2; ++i) errors.push_back(Invalid("metadata.uid", uid, "field is immutable"));
  }
  if (r.kind == "Pod") {
    ValidatePodUpdate(object, old, r.release, &errors);
  } else if (r.kind == "Node") {
    ValidateNodeUpdate(object, old, *r.type->Find("spec")->type, &errors);
    ValidateNode(object, r.release, &errors);
  } else if (r.kind == "Event") {
    ValidateEvent(object, &errors);
  } else if (r.kind == "PriorityClass") {
    if (IntOf(object, "value") != IntOf(old, "value")) {
      errors.push_back(Forbidden("value", "may not be changed in an update."));
    }
  } else if (r.kind == "PodDisruptionBudget" && kBudgetsAreFixed.Has(r.release)) {
    if (!AreAlike(object.Find("spec"), old.Find("spec"))) {
      errors.push_back(Forbidden("spec", "updates to poddisruptionbudget spec are forbidden."));
    }
  } else if (r.kind == "PodDisruptionBudget") {
    ValidateBudget(object, &errors);
  } else {
    ValidateOther(r, object, &old, &errors);
  }
  return InWordsOf(r.release, std::move(errors));
}

}  // namespace berth::validation
