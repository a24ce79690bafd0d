// Validation of release 1.29 that 1.10 does not have.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>

#include "pkg/api/labels.h"
#include "pkg/api/quantity.h"
#include "pkg/api/validation/validation.h"

namespace berth::validation {
namespace {

void OneOf(const Value& holder, std::string_view key, const Path& at, const std::vector<std::string>& allowed,
           FieldErrors* errors) {
  std::string_view value = holder.Str(key);
  if (value.empty() || std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
  errors->push_back(NotSupported((at / key).str(), value, allowed));
}

void SpreadConstraint(const Value& c, const Path& at, Version release, FieldErrors* errors) {
  int64_t skew = OrEmpty(c.Find("maxSkew")).AsInt();
  if (skew <= 0)
    errors->push_back(InvalidRaw((at / "maxSkew").str(), std::to_string(skew), "must be greater than zero"));
  std::string_view key = c.Str("topologyKey");
  if (key.empty()) {
    errors->push_back(Required((at / "topologyKey").str(), "can not be empty"));
  } else {
    ValidateLabelName(key, at / "topologyKey", errors);
  }
  std::string_view when = c.Str("whenUnsatisfiable");
  if (when != "DoNotSchedule" && when != "ScheduleAnyway") {
    errors->push_back(NotSupported((at / "whenUnsatisfiable").str(), when, {"DoNotSchedule", "ScheduleAnyway"}));
  }
  if (const Value* domains = c.Find("minDomains"); domains != nullptr && !domains->IsNull()) {
    if (domains->AsInt() <= 0) {
      errors->push_back(InvalidRaw((at / "minDomains").str(), domains->text(), "must be greater than zero"));
    } else if (when != "DoNotSchedule") {
      errors->push_back(InvalidRaw(
          (at / "minDomains").str(), domains->text(),
          absl::StrCat("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ", std::string(when))));
    }
  }
  OneOf(c, "nodeAffinityPolicy", at, {"Ignore", "Honor"}, errors);
  OneOf(c, "nodeTaintsPolicy", at, {"Ignore", "Honor"}, errors);
  const Value& keys = OrEmpty(c.Find("matchLabelKeys"));
  Path list = at / "matchLabelKeys";
  bool selector = c.Find("labelSelector") != nullptr && !c.Find("labelSelector")->IsNull();
  if (!keys.items.empty() && !selector) {
    errors->push_back(Forbidden(list.str(), "must not be specified when labelSelector is not set"));
  }
  for (size_t i = 0; i < keys.items.size(); ++i) ValidateLabelName(keys.items[i].text(), list[i], errors);
  if (kSpreadSelectors.Has(release)) ValidateLabelSelector(c.Find("labelSelector"), at / "labelSelector", errors);
}

void SpreadConstraints(const Value& spec, const Path& at, Version release, FieldErrors* errors) {
  const Value& list = OrEmpty(spec.Find("topologySpreadConstraints"));
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (size_t i = 0; i < list.items.size(); ++i) {
    const Value& c = list.items[i];
    Path here = at[i];
    SpreadConstraint(c, here, release, errors);
    if (!seen.emplace(c.Str("topologyKey"), c.Str("whenUnsatisfiable")).second) {
      errors->push_back(Duplicate(
          (here / "{topologyKey, whenUnsatisfiable}").str(),
          absl::StrCat("{", std::string(c.Str("topologyKey")), ", ", std::string(c.Str("whenUnsatisfiable")), "}")));
    }
  }
}

void Gates(const Value& spec, const Path& at, FieldErrors* errors) {
  const Value& list = OrEmpty(spec.Find("schedulingGates"));
  std::set<std::string_view> seen;
  for (size_t i = 0; i < list.items.size(); ++i) {
    Path here = at[i];
    std::string_view name = list.items[i].Str("name");
    for (const std::string& p : api::QualifiedNameProblems(name)) {
      errors->push_back(Invalid(here.str(), name, p));
    }
    if (!seen.insert(name).second) errors->push_back(Duplicate(here.str(), name));
  }
  if (!list.items.empty() && !spec.Str("nodeName").empty()) {
    errors->push_back(Forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
  }
}

void RestartPolicies(const Value& spec, const Path& at, Version release, FieldErrors* errors) {
  const bool any = kRestartPolicies.Has(release);
  for (std::string_view which : {"initContainers", "containers"}) {
    const Value& list = OrEmpty(spec.Find(which));
    Path path = at / which;
    for (size_t i = 0; i < list.items.size(); ++i) {
      std::string_view restart = list.items[i].Str("restartPolicy");
      if (restart.empty()) continue;
      Path here = path[i];
      if (any) {
        OneOf(list.items[i], "restartPolicy", here, {"Always", "Never", "OnFailure"}, errors);
      } else if (which == "containers") {
        errors->push_back(Forbidden((here / "restartPolicy").str(), "may not be set for non-init containers"));
      } else if (restart != "Always") {
        errors->push_back(NotSupported((here / "restartPolicy").str(), restart, {"Always"}));
      }
    }
  }
}

bool HasSubset(const Value& terms, const Value& old_terms) {
  if (terms.items.size() != old_terms.items.size()) return false;
  for (size_t i = 0; i < terms.items.size(); ++i) {
    for (std::string_view which : {"matchExpressions", "matchFields"}) {
      const Value& now = OrEmpty(terms.items[i].Find(which));
      const Value& before = OrEmpty(old_terms.items[i].Find(which));
      std::set<std::string> have;
      for (const Value& e : now.items) have.insert(ToSortedJson(e));
      for (const Value& e : before.items) {
        if (!have.contains(ToSortedJson(e))) return false;
      }
    }
  }
  return true;
}

}  // namespace

void ValidateAddedPodFields(const Value& spec, const Path& at, Version release, FieldErrors* errors) {
  SpreadConstraints(spec, at / "topologySpreadConstraints", release, errors);
  Gates(spec, at / "schedulingGates", errors);
  OneOf(spec, "preemptionPolicy", at, {"PreemptLowerPriority", "Never"}, errors);
  if (const Value* os = spec.Find("os"); os != nullptr && os->IsObject()) {
    OneOf(*os, "name", at / "os", {"linux", "windows"}, errors);
  }
  Path overhead_path = at / "overhead";
  const Value& overhead = OrEmpty(spec.Find("overhead"));
  for (size_t i = 0; i < overhead.keys.size(); ++i) {
    ValidateQuantity(overhead.keys[i], overhead.items[i].text(), overhead_path.Key(overhead.keys[i]).str(), errors);
  }
  RestartPolicies(spec, at, release, errors);
}

void AllowGatedChanges(const Value& now, const Value& old, Value* munged, FieldErrors* errors) {
  auto as_before = [&](std::string_view key) {
    munged->Erase(key);
    if (const Value* v = old.Find(key)) munged->Set(key, *v);
  };
  const Value& old_gates = OrEmpty(old.Find("schedulingGates"));
  std::set<std::string> had;
  for (const Value& g : old_gates.items) had.insert(std::string(g.Str("name")));
  for (const Value& g : OrEmpty(now.Find("schedulingGates")).items) {
    if (had.contains(std::string(g.Str("name")))) continue;
    errors->push_back(Forbidden(
        "spec.schedulingGates",
        absl::StrCat("only deletion is allowed, but found new scheduling gate '", std::string(g.Str("name")), "'")));
  }
  as_before("schedulingGates");
  if (old_gates.items.empty()) return;

  const Value& selector = OrEmpty(now.Find("nodeSelector"));
  const Value& old_selector = OrEmpty(old.Find("nodeSelector"));
  for (size_t i = 0; i < old_selector.keys.size(); ++i) {
    if (selector.Str(old_selector.keys[i]) != old_selector.items[i].text()) {
      errors->push_back(
          InvalidRaw("spec.nodeSelector", ToSortedJson(selector), "only additions to spec.nodeSelector are allowed"));
      break;
    }
  }
  as_before("nodeSelector");

  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  const Value* node = now.At({"affinity", "nodeAffinity"});
  const Value* old_node = old.At({"affinity", "nodeAffinity"});
  const Value* old_required = old_node == nullptr ? nullptr : old_node->Find(kRequired);
  const Value* required = node == nullptr ? nullptr : node->Find(kRequired);
  if (old_required != nullptr && !old_required->IsNull() &&
      !HasSubset(OrEmpty(OrEmpty(required).Find("nodeSelectorTerms")),
                 OrEmpty(old_required->Find("nodeSelectorTerms")))) {
    errors->push_back(Forbidden(absl::StrCat("spec.affinity.nodeAffinity.", std::string(kRequired)),
                                "no existing term may be changed or removed; requirements may be added to a term"));
  }
  Value* affinity = munged->Find("affinity");
  if (old_node != nullptr) {
    munged->Child("affinity").Set("nodeAffinity", *old_node);
  } else if (affinity != nullptr) {
    affinity->Erase("nodeAffinity");
    if (affinity->empty() && old.Find("affinity") == nullptr) munged->Erase("affinity");
  }
}

}  // namespace berth::validation
