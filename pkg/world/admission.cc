#include "pkg/world/admission.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <utility>

#include "pkg/util/status.h"
#include "pkg/world/amounts.h"
#include "pkg/world/kinds.h"
#include "pkg/world/limit_range.h"

namespace berth::world {
namespace {

constexpr std::string_view kClusterCritical = "system-cluster-critical", kNodeCritical = "system-node-critical";
constexpr std::string_view kPreempts = "PreemptLowerPriority";

Refusal ForbiddenBecause(std::string text) {
  return {std::move(text), {}};
}

void NoteThat(std::vector<AdmissionNote>* notes, AdmissionNote::Kind kind, std::string text) {
  if (notes != nullptr) notes->push_back({kind, std::move(text)});
}

bool IsSet(const Value* v) {
  return v != nullptr && !v->IsNull();
}

// What the Priority plugin takes from a class.
struct PriorityOfPod {
  int64_t value = 0;
  std::string class_name, preemption{kPreempts};
};

PriorityOfPod OfPriorityClass(const Value& c) {
  PriorityOfPod p;
  if (const Value* value = c.Find("value")) p.value = value->AsInt();
  if (!c.Str("preemptionPolicy").empty()) p.preemption = c.Str("preemptionPolicy");
  p.class_name = NameOf(c);
  return p;
}

// Returns the globalDefault class with the lowest value, as servers pick one of several.
std::optional<PriorityOfPod> GlobalDefault(const Objects& objects) {
  std::optional<PriorityOfPod> found;
  objects.Each("PriorityClass", "", [&](const Value& c) {
    const Value* by_default = c.Find("globalDefault");
    if (by_default == nullptr || !by_default->AsBool()) return;
    PriorityOfPod p = OfPriorityClass(c);
    if (!found || p.value < found->value) found = std::move(p);
  });
  return found;
}

bool SameToleration(const Value& a, const Value& b) {
  auto seconds = [](const Value& t) {
    const Value* s = t.Find("tolerationSeconds");
    return IsSet(s) ? s->text() : std::string();
  };
  for (std::string_view member : {"key", "operator", "value", "effect"}) {
    if (a.Str(member) != b.Str(member)) return false;
  }
  return seconds(a) == seconds(b);
}

Value& ListIn(Value* v, std::string_view member) {
  const Value* list = v->Find(member);
  if (!IsSet(list) || !list->IsArray()) v->Set(member, Value::Array());
  return *v->Find(member);
}

struct PluginRow {
  std::string_view name;
  bool AdmissionPlugins::*runs;
};
constexpr PluginRow kPlugins[] = {
    {"LimitRanger", &AdmissionPlugins::limit_ranger},
    {"Priority", &AdmissionPlugins::priority},
    {"DefaultTolerationSeconds", &AdmissionPlugins::default_tolerations},
    {"DefaultStorageClass", &AdmissionPlugins::storage_class},
    {"RuntimeClass", &AdmissionPlugins::runtime_class},
    {"ResourceQuota", &AdmissionPlugins::quota},
};

// Adds what a RuntimeClass says about nodes to a pod, or refuses it. Appends the names of what was added.
std::optional<Refusal> AddScheduling(const Value& scheduling, Value* spec, std::vector<std::string>* added) {
  if (const Value* selector = scheduling.Find("nodeSelector"); IsSet(selector) && !selector->keys.empty()) {
    for (size_t i = 0; i < selector->keys.size(); ++i) {
      const std::string& key = selector->keys[i];
      Value& merged = spec->Child("nodeSelector");
      const Value* mine = merged.Find(key);
      if (mine != nullptr && mine->text() != selector->items[i].text()) {
        return ForbiddenBecause(absl::StrCat("conflict: runtimeClass.scheduling.nodeSelector[", key,
                                             "] = ", selector->items[i].text(), "; pod.spec.nodeSelector[", key,
                                             "] = ", mine->text()));
      }
      merged.Set(key, selector->items[i]);
    }
    added->emplace_back("nodeSelector");
  }
  if (const Value* more = scheduling.Find("tolerations"); IsSet(more) && !more->items.empty()) {
    Value& tolerations = ListIn(spec, "tolerations");
    for (const Value& t : more->items) {
      auto same = [&](const Value& mine) { return SameToleration(mine, t); };
      if (std::none_of(tolerations.items.begin(), tolerations.items.end(), same)) tolerations.Append(t);
    }
    added->emplace_back("tolerations");
  }
  return std::nullopt;
}

}  // namespace

bool AdmissionPlugins::Disable(std::string_view name) {
  for (const PluginRow& row : kPlugins) {
    if (row.name != name) continue;
    this->*row.runs = false;
    return true;
  }
  return false;
}

std::vector<std::string> AdmissionPlugins::Names() {
  std::vector<std::string> names;
  for (const PluginRow& row : kPlugins) names.emplace_back(row.name);
  return names;
}

std::string Refusal::Message(std::string_view kind, std::string_view name) const {
  if (invalid.empty()) {
    return absl::StrCat(ResourceText(kind), " \"", util::ToAbsl(name), "\" is forbidden: ", forbidden);
  }
  std::vector<std::string> texts;
  for (const validation::FieldError& e : invalid) texts.push_back(e.Text());
  std::string joined = absl::StrJoin(texts, ", ");
  if (texts.size() > 1) joined = absl::StrCat("[", joined, "]");
  const std::string resource = ResourceText(kind);
  const size_t dot = resource.find('.');
  const std::string group = dot == std::string::npos ? "" : resource.substr(dot);
  return absl::StrCat(util::ToAbsl(kind), group, " \"", util::ToAbsl(name), "\" is invalid: ", joined);
}

std::optional<Refusal> Admission::LimitRanges(std::string_view kind, Value* object, std::vector<AdmissionNote>* notes) {
  if (!options_.plugins.limit_ranger) return std::nullopt;
  std::vector<Value> ranges;
  objects_->Each("LimitRange", NamespaceOf(*object), [&](const Value& range) {
    ranges.push_back(range);
    CompleteLimitRange(&ranges.back());
  });
  if (kind == "Pod") {
    for (const Value& range : ranges) {
      if (!ApplyLimitRange(range, object)) continue;
      NoteThat(notes, AdmissionNote::Kind::kLimitRange,
               absl::StrCat("requests and limits of LimitRange ", util::ToAbsl(NameOf(range))));
    }
  }
  for (const Value& range : ranges) {
    std::string text = LimitRangeRefusal(range, kind, *object);
    if (!text.empty()) return ForbiddenBecause(std::move(text));
  }
  return std::nullopt;
}

std::optional<Refusal> Admission::Priority(Value* pod, std::vector<AdmissionNote>* notes) {
  Value& spec = pod->Child("spec");
  const std::string class_name(spec.Str("priorityClassName"));
  PriorityOfPod p;
  const Value* given = spec.Find("priority");
  if (class_name.empty()) {
    if (auto by_default = GlobalDefault(*objects_)) p = *std::move(by_default);
    if (options_.keeps_given_priority && IsSet(given) && p.class_name.empty()) {
      p.value = given->AsInt();
      if (!spec.Str("preemptionPolicy").empty()) p.preemption = spec.Str("preemptionPolicy");
    }
  } else if (ValuePtr c = objects_->Get("PriorityClass", "", class_name)) {
    p = OfPriorityClass(*c);
  } else if (class_name == kClusterCritical || class_name == kNodeCritical) {
    p.value = class_name == kClusterCritical ? kSystemClusterCritical : kSystemNodeCritical;
    p.class_name = class_name;
  } else {
    return ForbiddenBecause(absl::StrCat("no PriorityClass with name ", class_name, " was found"));
  }
  if (IsSet(given) && given->AsInt() != p.value) {
    if (!options_.rules.tells_computed_priority) {
      return ForbiddenBecause(
          "the integer value of priority must not be provided in pod spec. Priority admission controller populates the "
          "value from the given PriorityClass name");
    }
    return ForbiddenBecause(absl::StrCat("the integer value of priority (", given->AsInt(),
                                         ") must not be provided in pod spec; priority admission controller computed ",
                                         p.value, " from the given PriorityClass name"));
  }
  if (!p.class_name.empty()) {
    NoteThat(notes, AdmissionNote::Kind::kPriority,
             absl::StrCat("priority ", p.value, " of PriorityClass ", p.class_name,
                          p.preemption == kPreempts ? "" : ", preemptionPolicy " + p.preemption));
    if (class_name.empty()) spec.Set("priorityClassName", Value::String(p.class_name));
  }
  spec.Set("priority", Value::Int(p.value));
  if (!options_.rules.preemption_policy) return std::nullopt;
  const std::string own(spec.Str("preemptionPolicy"));
  if (!own.empty() && own != p.preemption) {
    return ForbiddenBecause(absl::StrCat("the string value of PreemptionPolicy (", own,
                                         ") must not be provided in pod spec; priority admission controller computed ",
                                         p.preemption, " from the given PriorityClass name"));
  }
  spec.Set("preemptionPolicy", Value::String(p.preemption));
  return std::nullopt;
}

bool AddDefaultTolerations(Value* pod) {
  Value& tolerations = ListIn(&pod->Child("spec"), "tolerations");
  bool added = false;
  std::vector<std::string> lacking;
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    auto matches = [&](const Value& t) {
      const std::string_view own = t.Str("key"), effect = t.Str("effect");
      return (own.empty() || own == key) && (effect.empty() || effect == "NoExecute");
    };
    if (std::none_of(tolerations.items.begin(), tolerations.items.end(), matches)) lacking.emplace_back(key);
  }
  for (const std::string& key : lacking) {
    constexpr int64_t kSeconds = 300;
    Value t =
        Value::Object({{"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", kSeconds}});
    tolerations.Append(std::move(t));
    added = true;
  }
  return added;
}

std::optional<Refusal> Admission::RuntimeClass(Value* pod, std::vector<AdmissionNote>* notes) {
  Value& spec = pod->Child("spec");
  const std::string name(spec.Str("runtimeClassName"));
  const Value* own = spec.Find("overhead");
  const bool overhead_given = IsSet(own) && !own->empty();
  constexpr std::string_view kUnrelated =
      "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
  const bool reads_overhead = options_.rules.runtime_class_overhead;
  if (name.empty()) {
    if (overhead_given && reads_overhead && !options_.tolerates_missing)
      return ForbiddenBecause(std::string(kUnrelated));
    return std::nullopt;
  }
  const ValuePtr found = objects_->Get("RuntimeClass", "", name);
  if (found == nullptr) {
    if (!options_.tolerates_missing) {
      return ForbiddenBecause(absl::StrCat("pod rejected: RuntimeClass \"", name, "\" not found"));
    }
    NoteThat(notes, AdmissionNote::Kind::kMissing, absl::StrCat("RuntimeClass ", name));
    return std::nullopt;
  }
  std::vector<std::string> added;
  const Value* overhead = found->At({"overhead", "podFixed"});
  if (!reads_overhead) overhead = nullptr;
  if (IsSet(overhead) && !overhead->empty()) {
    if (overhead_given && AmountsOf(own) != AmountsOf(overhead)) {
      return ForbiddenBecause("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
    }
    spec.Set("overhead", *overhead);
    added.emplace_back("overhead");
  } else if (overhead_given && reads_overhead) {
    return ForbiddenBecause(std::string(kUnrelated));
  }
  const Value* scheduling = found->Find("scheduling");
  if (IsSet(scheduling) && options_.rules.runtime_class_scheduling) {
    if (auto refused = AddScheduling(*scheduling, &spec, &added)) return refused;
  }
  if (!added.empty()) {
    NoteThat(notes, AdmissionNote::Kind::kRuntimeClass,
             absl::StrCat(absl::StrJoin(added, " and "), " of RuntimeClass ", name));
  }
  return std::nullopt;
}

std::optional<Refusal> Admission::ServiceAccount(Value* pod) {
  Value& spec = pod->Child("spec");
  std::string name(spec.Str("serviceAccountName"));
  if (name.empty()) return std::nullopt;  // the account "default" is in every namespace
  if (name == "default" || objects_->Get("ServiceAccount", NamespaceOf(*pod), name) != nullptr) return std::nullopt;
  return ForbiddenBecause(absl::StrCat("error looking up service account ", util::ToAbsl(NamespaceOf(*pod)), "/", name,
                                       ": serviceaccount \"", name, "\" not found"));
}

std::optional<Refusal> Admission::CompletePod(Value* pod, std::vector<AdmissionNote>* notes) {
  if (auto refused = LimitRanges("Pod", pod, notes)) return refused;
  if (options_.service_accounts) {
    if (auto refused = ServiceAccount(pod)) return refused;
  }
  if (options_.rules.priority && options_.plugins.priority) {
    if (auto refused = Priority(pod, notes)) return refused;
  }
  if (options_.plugins.default_tolerations && AddDefaultTolerations(pod)) {
    NoteThat(notes, AdmissionNote::Kind::kTolerations, "tolerations of DefaultTolerationSeconds");
  }
  if (options_.plugins.runtime_class) {
    if (auto refused = RuntimeClass(pod, notes)) return refused;
  }
  Refusal invalid;
  if (options_.rules.pod_level_resources && CompletePodResources(pod, &invalid.invalid)) {
    NoteThat(notes, AdmissionNote::Kind::kPodResources, "requests of the pod from those of its containers");
  }
  if (MergeLabelKeys(options_.rules, pod, &invalid.invalid)) {
    NoteThat(notes, AdmissionNote::Kind::kLabelKeys, "labels of matchLabelKeys in its selectors");
  }
  if (!invalid.invalid.empty()) return invalid;
  return std::nullopt;
}

ValuePtr DefaultStorageClass(const Rules& rules, const Objects& objects, std::string* error) {
  ValuePtr best;
  int64_t count = 0;
  objects.Each("StorageClass", "", [&](const Value& c) {
    if (AnnotationOf(c, "storageclass.kubernetes.io/is-default-class") != "true" &&
        AnnotationOf(c, "storageclass.beta.kubernetes.io/is-default-class") != "true") {
      return;
    }
    ++count;
    auto created = [](const Value& v) { return validation::OrEmpty(v.Find("metadata")).Str("creationTimestamp"); };
    // They come by name, so that the first of equally old ones stays.
    if (best == nullptr || created(c) > created(*best)) best = std::make_shared<const Value>(c);
  });
  if (count > 1 && !rules.newest_default_class) {
    *error = absl::StrCat(count, " default StorageClasses were found");
    return nullptr;
  }
  return best;
}

std::optional<Refusal> Admission::StorageClass(Value* claim, std::vector<AdmissionNote>* notes) {
  if (!options_.plugins.storage_class) return std::nullopt;
  constexpr std::string_view kClassAnnotation = "volume.beta.kubernetes.io/storage-class";
  const Value* annotations = claim->At({"metadata", "annotations"});
  if (annotations != nullptr && annotations->Find(kClassAnnotation) != nullptr) return std::nullopt;
  Value& spec = claim->Child("spec");
  if (IsSet(spec.Find("storageClassName"))) return std::nullopt;
  std::string error;
  const ValuePtr found = DefaultStorageClass(options_.rules, *objects_, &error);
  if (!error.empty()) return ForbiddenBecause(std::move(error));
  if (found == nullptr) return std::nullopt;
  spec.Set("storageClassName", Value::String(NameOf(*found)));
  NoteThat(notes, AdmissionNote::Kind::kStorageClass,
           absl::StrCat("the default StorageClass ", util::ToAbsl(NameOf(*found))));
  return std::nullopt;
}

std::optional<Refusal> Admission::CheckPriorityClass(const Value& priority_class) {
  const Value* c = &priority_class;
  const std::string name(NameOf(*c));
  const Value* by_default = c->Find("globalDefault");
  if (by_default != nullptr && by_default->AsBool()) {
    std::string other;
    objects_->Each("PriorityClass", "", [&](const Value& o) {
      const Value* d = o.Find("globalDefault");
      if (d != nullptr && d->AsBool() && NameOf(o) != name && other.empty()) other = NameOf(o);
    });
    if (!other.empty()) {
      return ForbiddenBecause(
          absl::StrCat("PriorityClass ", other, " is already marked as default. Only one default can exist"));
    }
  }
  return std::nullopt;
}

std::optional<Refusal> Admission::Complete(std::string_view kind, Value* object, std::vector<AdmissionNote>* notes) {
  if (kind == "Pod") return CompletePod(object, notes);
  if (kind == "PersistentVolumeClaim") {
    if (auto refused = StorageClass(object, notes)) return refused;
    return LimitRanges(kind, object, notes);
  }
  if (kind == "PriorityClass") return CheckPriorityClass(*object);
  if (kind == "LimitRange") CompleteLimitRange(object);
  return std::nullopt;
}

std::optional<Refusal> Admission::CheckQuota(std::string_view kind, const Value& object) {
  if (!options_.plugins.quota || NamespaceOf(object).empty()) return std::nullopt;
  std::string text = ledger_.Refusal(kind, object);
  if (text.empty()) return std::nullopt;
  return ForbiddenBecause(std::move(text));
}

std::optional<Refusal> Admission::Admit(std::string_view kind, Value* object, std::vector<AdmissionNote>* notes) {
  if (auto refused = Complete(kind, object, notes)) return refused;
  return CheckQuota(kind, *object);
}

bool Admission::HasQuotas(std::string_view ns) const {
  bool any = false;
  objects_->Each("ResourceQuota", ns, [&](const Value&) { any = true; });
  return any;
}

}  // namespace berth::world
