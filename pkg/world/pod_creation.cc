// What the creation of a pod changes besides the admission plugins: label keys that are merged into selectors, and the
// resources of the pod as a whole.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "pkg/util/status.h"
#include "pkg/world/admission.h"
#include "pkg/world/amounts.h"

namespace berth::world {
namespace {

using validation::FieldErrors;

// Returns whether a label selector has a condition on the key.
bool SelectsBy(const Value& selector, std::string_view key) {
  const Value* labels = selector.Find("matchLabels");
  if (labels != nullptr && labels->Find(key) != nullptr) return true;
  const Value* expressions = selector.Find("matchExpressions");
  if (expressions == nullptr) return false;
  auto same = [&](const Value& e) { return e.Str("key") == key; };
  return std::any_of(expressions->items.begin(), expressions->items.end(), same);
}

// Appends "key In (value)" or "key NotIn (value)" for each key of the list that the pod has.
bool MergeKeys(const Value& labels, std::string_view list, std::string_view op, const std::string& path, Value* owner,
               FieldErrors* errors) {
  const Value* keys = owner->Find(list);
  if (keys == nullptr || keys->empty()) return false;
  const Value copy = *keys;
  const Value* selector = owner->Find("labelSelector");
  if (selector == nullptr || selector->IsNull()) {
    errors->push_back(validation::Forbidden(absl::StrCat(path, ".", util::ToAbsl(list)),
                                            "must not be specified when labelSelector is not set"));
    return false;
  }
  const Value as_given = *selector;
  bool changed = false;
  for (size_t i = 0; i < copy.items.size(); ++i) {
    const std::string& key = copy.items[i].text();
    if (SelectsBy(as_given, key)) {
      errors->push_back(validation::Invalid(absl::StrCat(path, "[", i, "]"), key,
                                            absl::StrCat("exists in both ", util::ToAbsl(list), " and labelSelector")));
      continue;
    }
    const Value* value = labels.Find(key);
    if (value == nullptr) continue;
    Value expression = Value::Object({{"key", key}, {"operator", op}});
    expression.Set("values", Value::Array()).Append(*value);
    Value& target = *owner->Find("labelSelector");
    const Value* expressions = target.Find("matchExpressions");
    if (expressions == nullptr || expressions->IsNull()) target.Set("matchExpressions", Value::Array());
    target.Find("matchExpressions")->Append(std::move(expression));
    changed = true;
  }
  return changed;
}

bool MergeTermKeys(const Value& labels, const std::string& path, Value* term, FieldErrors* errors) {
  const bool in = MergeKeys(labels, "matchLabelKeys", "In", path, term, errors);
  return MergeKeys(labels, "mismatchLabelKeys", "NotIn", path, term, errors) || in;
}

constexpr std::string_view kPodResources[] = {"cpu", "memory"};

bool MayBeOfPod(std::string_view name) {
  return std::find(std::begin(kPodResources), std::end(kPodResources), name) != std::end(kPodResources) ||
         name.starts_with("hugepages-");
}

void CheckPodResources(const Value& spec, FieldErrors* errors) {
  const Amounts requests = AmountsOf(spec, "requests"), limits = AmountsOf(spec, "limits");
  const Amounts used = OfContainers(spec, "requests");
  const std::string at = "spec.resources";
  for (const char* list : {"limits", "requests"}) {
    for (const auto& [name, amount] : list[0] == 'l' ? limits : requests) {
      if (MayBeOfPod(name)) continue;
      errors->push_back(
          validation::NotSupported(absl::StrCat(at, ".", list, "[", name, "]"), name, {"cpu", "hugepages-", "memory"}));
      if (list[0] == 'r' && !limits.contains(name)) {
        errors->push_back(validation::Required(at + ".limits", "Limit must be set for non overcommitable resources"));
      }
    }
  }
  for (const auto& [name, amount] : requests) {
    auto limit = limits.find(name);
    if (limit != limits.end() && limit->second < amount) {
      errors->push_back(validation::Invalid(
          at + ".requests", amount.String(),
          absl::StrCat("must be less than or equal to ", name, " limit of ", limit->second.String())));
    }
  }
  for (const auto& [name, amount] : requests) {
    auto sum = used.find(name);
    if (sum == used.end() || sum->second <= amount) continue;
    errors->push_back(validation::Invalid(
        absl::StrCat(at, ".requests[", name, "]"), amount.String(),
        absl::StrCat("must be greater than or equal to aggregate container requests of ", sum->second.String())));
  }
  const Value* containers = spec.Find("containers");
  for (size_t i = 0; containers != nullptr && i < containers->items.size(); ++i) {
    for (const auto& [name, amount] : AmountsOf(containers->items[i], "limits")) {
      auto most = limits.find(name);
      if (most == limits.end() || amount <= most->second) continue;
      errors->push_back(
          validation::Invalid(absl::StrCat(at, ".containers[", i, "][", name, "].limits"), amount.String(),
                              absl::StrCat("must be less than or equal to pod limits of ", most->second.String())));
    }
  }
}

}  // namespace

void CompleteContainers(Value* pod) {
  Value* spec = pod->Find("spec");
  if (spec == nullptr) return;
  const Value* host = spec->Find("hostNetwork");
  const bool host_network = host != nullptr && host->AsBool();
  for (std::string_view list : {"containers", "initContainers"}) {
    Value* containers = spec->Find(list);
    if (containers == nullptr) continue;
    for (Value& c : containers->items) {
      const Amounts requests = AmountsOf(c, "requests");
      if (const Value* limits = c.At({"resources", "limits"}); limits != nullptr && !limits->empty()) {
        const Value copy = *limits;
        for (size_t i = 0; i < copy.keys.size(); ++i) {
          if (requests.contains(copy.keys[i])) continue;
          c.Child("resources").Child("requests").Set(copy.keys[i], copy.items[i]);
        }
      }
      Value* ports = host_network ? c.Find("ports") : nullptr;
      for (size_t i = 0; ports != nullptr && i < ports->items.size(); ++i) {
        Value& port = ports->items[i];
        const Value* given = port.Find("hostPort");
        const Value* own = port.Find("containerPort");
        if (own != nullptr && (given == nullptr || given->AsInt() == 0)) port.Set("hostPort", Value(*own));
      }
    }
  }
}

std::shared_ptr<const api::PodTemplate> WithDefaultTolerations(const std::shared_ptr<const api::PodTemplate>& pod) {
  static const api::Symbol kNoExecute("NoExecute"), kExists("Exists");
  static const api::Symbol kKeys[] = {api::Symbol("node.kubernetes.io/not-ready"),
                                      api::Symbol("node.kubernetes.io/unreachable")};
  std::vector<api::Toleration> lacking;
  for (api::Symbol key : kKeys) {
    auto matches = [&](const api::Toleration& t) {
      return (t.key.empty() || t.key == key) && (t.effect.empty() || t.effect == kNoExecute);
    };
    if (std::none_of(pod->tolerations.begin(), pod->tolerations.end(), matches)) {
      lacking.push_back({key, kExists, {}, kNoExecute});
    }
  }
  if (lacking.empty()) return pod;
  api::PodTemplate more = *pod;
  more.tolerations.insert(more.tolerations.end(), lacking.begin(), lacking.end());
  return api::PodTemplate::Intern(std::move(more));
}

bool MergeLabelKeys(const Rules& rules, Value* pod, FieldErrors* errors) {
  const Value labels = validation::OrEmpty(pod->At({"metadata", "labels"}));
  Value* spec = pod->Find("spec");
  if (spec == nullptr) return false;
  bool changed = false;
  if (rules.merges_spread_keys) {
    if (Value* constraints = spec->Find("topologySpreadConstraints")) {
      for (size_t i = 0; i < constraints->items.size(); ++i) {
        const std::string path = absl::StrCat("spec.topologySpreadConstraints[", i, "]");
        changed |= MergeKeys(labels, "matchLabelKeys", "In", path, &constraints->items[i], errors);
      }
    }
  }
  if (!rules.merges_affinity_keys) return changed;
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    Value* affinity = spec->At({"affinity", kind});
    if (affinity == nullptr) continue;
    for (const char* list :
         {"requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"}) {
      Value* terms = affinity->Find(list);
      for (size_t i = 0; terms != nullptr && i < terms->items.size(); ++i) {
        std::string path = absl::StrCat("spec.affinity.", kind, ".", list, "[", i, "]");
        Value* term = &terms->items[i];
        if (list[0] == 'p') {
          term = term->Find("podAffinityTerm");
          path += ".podAffinityTerm";
        }
        if (term != nullptr) changed |= MergeTermKeys(labels, path, term, errors);
      }
    }
  }
  return changed;
}

bool CompletePodResources(Value* pod, FieldErrors* errors) {
  Value* spec = pod->Find("spec");
  const Value* resources = spec == nullptr ? nullptr : spec->Find("resources");
  if (resources == nullptr || !resources->IsObject()) return false;
  Amounts requests = AmountsOf(*spec, "requests");
  const size_t before = requests.size();
  const Amounts limits = AmountsOf(*spec, "limits");
  if (requests.empty() && limits.empty()) return false;
  for (const auto& [name, amount] : OfContainers(*spec, "requests")) {
    if (MayBeOfPod(name)) requests.emplace(name, amount);
  }
  for (const auto& [name, amount] : limits) requests.emplace(name, amount);
  const bool changed = requests.size() > before;
  if (changed) spec->Child("resources").Set("requests", ToValue(requests));
  CheckPodResources(*spec, errors);
  return changed;
}

}  // namespace berth::world
