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

void Add(const std::vector<std::string>& problems, const Path& at, std::string_view value, FieldErrors* errors) {
  for (const std::string& p : problems) errors->push_back(Invalid(at.str(), value, p));
}

void ValidateName(const ResourceInfo& r, std::string_view name, const Path& at, FieldErrors* errors) {
  static constexpr std::string_view kLabel1035 =
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
      "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
      "'[a-z]([-a-z0-9]*[a-z0-9])?')";
  if (r.kind == "Namespace" || r.kind == "Service") {
    const bool service = r.kind == "Service" && !kRelaxedServiceNames.Has(r.release);
    if (!service) return Add(DnsLabelProblems(name), at, name, errors);
    if (name.size() > kLongestLabel) errors->push_back(Invalid(at.str(), name, "must be no more than 63 characters"));
    if (!IsDnsLabel(name.substr(0, kLongestLabel), true)) errors->push_back(Invalid(at.str(), name, kLabel1035));
    return;
  }
  if (r.kind == "Event" || r.kind == "Role" || r.kind == "ClusterRole" || r.kind == "RoleBinding" ||
      r.kind == "ClusterRoleBinding") {
    // Any part of a path will do: "system:kube-scheduler".
    if (name == "." || name == "..") {
      errors->push_back(Invalid(at.str(), name, absl::StrCat("may not be '", std::string(name), "'")));
    }
    for (const char* part : {"/", "%"}) {
      if (name.find(part) == std::string_view::npos) continue;
      errors->push_back(Invalid(at.str(), name, absl::StrCat("may not contain '", part, "'")));
    }
    return;
  }
  Add(api::Dns1123SubdomainProblems(name), at, name, errors);
}

void ValidateTaints(const Value* taints, const Path& at, FieldErrors* errors) {
  if (taints == nullptr) return;
  std::set<std::pair<std::string, std::string>> seen;
  for (size_t i = 0; i < taints->items.size(); ++i) {
    const Value& t = taints->items[i];
    Path here = at[i];
    ValidateLabelName(t.Str("key"), here / "key", errors);
    Add(api::LabelValueProblems(t.Str("value")), here / "value", t.Str("value"), errors);
    std::string effect(t.Str("effect"));
    if (effect.empty()) {
      errors->push_back(Required((here / "effect").str()));
    } else if (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute") {
      errors->push_back(NotSupported((here / "effect").str(), effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"}));
    }
    if (!seen.emplace(t.Str("key"), effect).second) {
      errors->push_back(DuplicateRaw(
          here.str(),
          absl::StrCat("core.Taint{Key:", util::GoQuoted(t.Str("key")), ", Value:", util::GoQuoted(t.Str("value")),
                       ", Effect:", util::GoQuoted(effect), ", TimeAdded:<nil>}"),
          "taints must be unique by key and effect pair"));
    }
  }
}

void ValidateNode(const Value& node, Version release, FieldErrors* errors) {
  constexpr std::string_view kAvoid = "scheduler.alpha.kubernetes.io/preferAvoidPods";
  if (const Value* annotations = node.At({"metadata", "annotations"})) {
    if (const Value* avoid = annotations->Find(kAvoid)) {
      auto parsed = ParseJson(avoid->text());
      if (!parsed.ok())
        errors->push_back(Invalid("metadata.annotations.AvoidPods", kAvoid, util::Message(parsed.status())));
    }
  }
  Path meta("metadata");
  ValidateTaints(node.At({"spec", "taints"}), meta / "taints", errors);
  Path status("status");
  for (std::string_view which : {"capacity", "allocatable"}) {
    if (const Value* list = node.At({"status", which})) {
      for (size_t i = 0; i < list->keys.size(); ++i) {
        ValidateQuantity(list->keys[i], list->items[i].text(),
                         absl::StrCat("status.", std::string(which), ".", list->keys[i]), errors);
      }
    }
  }
  const Value* spec = node.Find("spec");
  bool external_id = spec != nullptr && !spec->Str("externalID").empty();
  if (kExternalIds.Has(release) && !external_id) errors->push_back(Required("spec.externalID"));
}

std::string Text(const Value* v) {
  return v == nullptr ? "" : ToSortedJson(*v);
}

// Copies the members that may change from the new spec to the old one. If the two then still differ, something else was
// changed.
void ValidateNodeUpdate(const Value& node, const Value& old, const TypeDef& type, FieldErrors* errors) {
  Value before = old.Find("spec") != nullptr ? *old.Find("spec") : Value::Object();
  const Value* now = node.Find("spec");
  Value empty = Value::Object();
  if (now == nullptr) now = &empty;
  for (std::string_view key : {"podCIDR", "providerID"}) {
    if (before.Str(key).empty() || before.Str(key) == now->Str(key)) continue;
    errors->push_back(
        Forbidden(absl::StrCat("spec.", std::string(key)),
                  absl::StrCat("node updates may not change ", std::string(key), " except from \"\" to valid")));
  }
  for (std::string_view key : {"podCIDR", "providerID", "externalID"}) {
    if (before.Str(key).empty() && now->Find(key) != nullptr) before.Set(key, *now->Find(key));
  }
  if (const Value* ranges = now->Find("podCIDRs"); ranges != nullptr && OrEmpty(before.Find("podCIDRs")).items.empty())
    before.Set("podCIDRs", *ranges);
  for (std::string_view key : {"unschedulable", "taints", "configSource"}) {
    before.Erase(key);
    if (const Value* v = now->Find(key)) before.Set(key, *v);
  }
  std::string a, b;
  Encode(before, type, &a);
  Encode(*now, type, &b);
  if (a != b) {
    errors->push_back(Forbidden("[]",
                                "node updates may only change labels, taints, or capacity (or configSource, if the "
                                "DynamicKubeletConfig feature gate is enabled)"));
  }
}

void ValidateEvent(const Value& event, FieldErrors* errors) {
  const Value* about = event.Find("involvedObject");
  std::string_view of = about == nullptr ? std::string_view() : about->Str("namespace");
  std::string_view ns = event.Find("metadata")->Str("namespace");
  // Events about cluster-wide objects are in "default", and new ones, which have a time, may be in "kube-system".
  const Value* time = event.Find("eventTime");
  const bool is_new = time != nullptr && !time->text().empty();
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

std::string Path::str() const {
  std::string out = parent_ == nullptr ? std::string() : parent_->str();
  if (index_ >= 0) {
    absl::StrAppend(&out, "[", index_, "]");
  } else if (key_) {
    out.append("[").append(name_).append("]");
  } else {
    if (!out.empty()) out.push_back('.');
    out.append(name_);
  }
  return out;
}

void ValidateLabelName(std::string_view name, const Path& at, FieldErrors* errors) {
  Add(api::QualifiedNameProblems(name), at, name, errors);
}

void ValidateLabels(const Value* labels, const Path& at, FieldErrors* errors) {
  if (labels == nullptr) return;
  for (size_t i = 0; i < labels->keys.size(); ++i) {
    ValidateLabelName(labels->keys[i], at, errors);
    Add(api::LabelValueProblems(labels->items[i].text()), at, labels->items[i].text(), errors);
  }
}

void ValidateObjectMeta(const ResourceInfo& r, const Value& object, FieldErrors* errors) {
  static const Value kNone = Value::Object();
  const Value* meta = object.Find("metadata");
  if (meta == nullptr) meta = &kNone;
  Path at("metadata");
  std::string_view name = meta->Str("name");
  if (name.empty()) {
    errors->push_back(Required("metadata.name", "name or generateName is required"));
  } else {
    ValidateName(r, name, at / "name", errors);
  }
  std::string_view ns = meta->Str("namespace");
  if (r.namespaced && ns.empty()) {
    errors->push_back(Required("metadata.namespace"));
  } else if (r.namespaced) {
    ValidateName(Catalog::Of(r.release).Core("namespaces"), ns, at / "namespace", errors);
  }
  ValidateLabels(meta->Find("labels"), at / "labels", errors);
  if (const Value* annotations = meta->Find("annotations")) {
    size_t total = 0;
    for (size_t i = 0; i < annotations->keys.size(); ++i) {
      std::string lower = annotations->keys[i];
      std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
      for (const std::string& p : api::QualifiedNameProblems(lower))
        errors->push_back(Invalid("metadata.annotations", annotations->keys[i], p));
      total += annotations->keys[i].size() + annotations->items[i].text().size();
    }
    if (total > kMostAnnotationBytes) errors->push_back(TooLong("metadata.annotations", kMostAnnotationBytes));
  }
}

namespace {

void Requirement(const Value& e, const Path& at, bool node, FieldErrors* errors) {
  std::string_view op = e.Str("operator");
  const Value* values = e.Find("values");
  size_t n = values == nullptr ? 0 : values->items.size();
  if (op == "In" || op == "NotIn") {
    if (n == 0) {
      errors->push_back(Required((at / "values").str(), "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (n > 0) {
      errors->push_back(
          Forbidden((at / "values").str(), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
  } else if (node && (op == "Gt" || op == "Lt")) {
    if (n != 1) {
      errors->push_back(
          Required((at / "values").str(), "must be specified single value when `operator` is 'Lt' or 'Gt'"));
    }
  } else {
    errors->push_back(Invalid((at / "operator").str(), op, "not a valid selector operator"));
  }
  ValidateLabelName(e.Str("key"), at / "key", errors);
}

// Checks one of a node selector term's matchFields: only the node's name can be selected, and only one name at a time.
void FieldRequirement(const Value& e, const Path& at, FieldErrors* errors) {
  std::string_view op = e.Str("operator"), key = e.Str("key");
  const Value* values = e.Find("values");
  if (op == "In" || op == "NotIn") {
    if (values == nullptr || values->items.size() != 1) {
      errors->push_back(Required((at / "values").str(),
                                 "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
    }
  } else {
    errors->push_back(Invalid((at / "operator").str(), op, "not a valid selector operator"));
  }
  if (key != "metadata.name") {
    errors->push_back(Invalid((at / "key").str(), key, "not a valid field selector key"));
  } else if (values != nullptr) {
    Path list = at / "values";
    for (size_t i = 0; i < values->items.size(); ++i) {
      Add(api::Dns1123SubdomainProblems(values->items[i].text()), list[i], values->items[i].text(), errors);
    }
  }
}

}  // namespace

void ValidateLabelSelector(const Value* selector, const Path& at, FieldErrors* errors) {
  if (selector == nullptr || selector->IsNull()) return;
  ValidateLabels(selector->Find("matchLabels"), at / "matchLabels", errors);
  if (const Value* expressions = selector->Find("matchExpressions")) {
    Path here = at / "matchExpressions";
    for (size_t i = 0; i < expressions->items.size(); ++i) Requirement(expressions->items[i], here[i], false, errors);
  }
}

void ValidateNodeSelector(const Value& selector, const Path& at, Version release, FieldErrors* errors) {
  const Value* terms = selector.Find("nodeSelectorTerms");
  Path list = at / "nodeSelectorTerms";
  if (terms == nullptr || terms->empty()) {
    errors->push_back(Required(list.str(), "must have at least one node selector term"));
    return;
  }
  for (size_t i = 0; i < terms->items.size(); ++i) {
    Path term = list[i];
    Path here = term / "matchExpressions";
    const Value* expressions = terms->items[i].Find("matchExpressions");
    bool none = expressions == nullptr || expressions->empty();
    if (none && kTermsNeedExpressions.Has(release)) {
      errors->push_back(Required(here.str(), "must have at least one node selector requirement"));
    }
    for (size_t k = 0; !none && k < expressions->items.size(); ++k) {
      Requirement(expressions->items[k], here[k], true, errors);
    }
    const Value* fields = terms->items[i].Find("matchFields");
    Path field_list = term / "matchFields";
    for (size_t k = 0; fields != nullptr && k < fields->items.size(); ++k) {
      FieldRequirement(fields->items[k], field_list[k], errors);
    }
  }
}

bool IsExtendedResource(std::string_view name) {
  return name.find('/') != std::string_view::npos && name.find("kubernetes.io/") == std::string_view::npos;
}

void ValidateQuantity(std::string_view resource, std::string_view quantity, const std::string& field,
                      FieldErrors* errors) {
  auto q = api::Quantity::Parse(quantity);
  if (!q.ok()) return;  // decoding has reported it
  if (q->Sign() < 0) errors->push_back(Invalid(field, quantity, "must be greater than or equal to 0"));
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
    errors->push_back(InvalidRaw(field,
                                 absl::StrCat("resource.Quantity{i:resource.int64Amount{value:", std::string(digits),
                                              ", scale:-3}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:",
                                              util::GoQuoted(quantity), ", Format:\"DecimalSI\"}"),
                                 "must be an integer"));
  }
}

namespace {

void ValidatePriorityClass(const Value& object, FieldErrors* errors) {
  constexpr int64_t kHighestOfUsers = 1'000'000'000;
  std::string_view name = object.Find("metadata") == nullptr ? "" : object.Find("metadata")->Str("name");
  const Value* value = object.Find("value");
  bool system = name == "system-cluster-critical" || name == "system-node-critical";
  if (!system && name.starts_with("system-")) {
    errors->push_back(Forbidden("metadata.name",
                                absl::StrCat("priority class names with 'system-' prefix are reserved for system use "
                                             "only. error: ",
                                             util::ToAbsl(name), " is not a known system priority class")));
  } else if (!system && value != nullptr && value->AsInt() > kHighestOfUsers) {
    errors->push_back(
        Forbidden("value", absl::StrCat("maximum allowed value of a user defined priority is ", kHighestOfUsers)));
  }
  std::string_view policy = object.Str("preemptionPolicy");
  if (!policy.empty() && policy != "Never" && policy != "PreemptLowerPriority") {
    errors->push_back(NotSupported("preemptionPolicy", policy, {"PreemptLowerPriority", "Never"}));
  }
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
    static const Value kNone = Value::Object();
    const Value* spec = object.Find("spec");
    ValidatePodSpec(spec == nullptr ? kNone : *spec, Path("spec"), r.release, &errors);
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
    const Value *now = object.Find("value"), *before = old.Find("value");
    if ((now == nullptr ? 0 : now->AsInt()) != (before == nullptr ? 0 : before->AsInt())) {
      errors.push_back(Forbidden("value", "may not be changed in an update."));
    }
  } else if (r.kind == "PodDisruptionBudget" && kBudgetsAreFixed.Has(r.release)) {
    if (Text(object.Find("spec")) != Text(old.Find("spec"))) {
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
