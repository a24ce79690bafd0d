// Validation of release 1.29 that 1.10 does not have.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>

#include "pkg/api/labels.h"
#include "pkg/api/quantity.h"
#include "pkg/api/validation/validation.h"

namespace berth::validation {
namespace {

void SpreadConstraint(const Value& c, const Path& at, Version release, FieldErrors* errors) {
  const int64_t skew = IntOf(c, "maxSkew");
  if (skew <= 0) errors->push_back(InvalidRaw(at / "maxSkew", skew, "must be greater than zero"));
  std::string_view key = c.Str("topologyKey");
  if (key.empty()) {
    errors->push_back(Required(at / "topologyKey", "can not be empty"));
  } else {
    ValidateLabelName(key, at / "topologyKey", errors);
  }
  std::string_view when = c.Str("whenUnsatisfiable");
  if (when != "DoNotSchedule" && when != "ScheduleAnyway") {
    errors->push_back(NotSupported(at / "whenUnsatisfiable", when, {"DoNotSchedule", "ScheduleAnyway"}));
  }
  if (const Value* domains = c.Find("minDomains"); domains != nullptr && !domains->IsNull()) {
    if (domains->AsInt() <= 0) {
      errors->push_back(InvalidRaw(at / "minDomains", domains->text(), "must be greater than zero"));
    } else if (when != "DoNotSchedule") {
      errors->push_back(InvalidRaw(
          at / "minDomains", domains->text(),
          absl::StrCat("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ", std::string(when))));
    }
  }
  ValidateWord(c, "nodeAffinityPolicy", at, {"Ignore", "Honor"}, errors);
  ValidateWord(c, "nodeTaintsPolicy", at, {"Ignore", "Honor"}, errors);
  const bool selector = c.Find("labelSelector") != nullptr && !c.Find("labelSelector")->IsNull();
  if (!OrEmpty(c.Find("matchLabelKeys")).items.empty() && !selector) {
    errors->push_back(Forbidden(at / "matchLabelKeys", "must not be specified when labelSelector is not set"));
  }
  EachOf(c, "matchLabelKeys", at, [&](const Value& k, const Path& here) { ValidateLabelName(k.text(), here, errors); });
  if (kSpreadSelectors.Has(release)) ValidateLabelSelector(c.Find("labelSelector"), at / "labelSelector", errors);
}

void SpreadConstraints(const Value& spec, const Path& at, Version release, FieldErrors* errors) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  EachOf(spec, "topologySpreadConstraints", at, [&](const Value& c, const Path& here) {
    SpreadConstraint(c, here, release, errors);
    const std::string_view key = c.Str("topologyKey"), when = c.Str("whenUnsatisfiable");
    if (seen.emplace(key, when).second) return;
    errors->push_back(Duplicate(here / "{topologyKey, whenUnsatisfiable}",
                                absl::StrCat("{", std::string(key), ", ", std::string(when), "}")));
  });
}

void Gates(const Value& spec, const Path& at, FieldErrors* errors) {
  std::set<std::string_view> seen;
  EachOf(spec, "schedulingGates", at, [&](const Value& gate, const Path& here) {
    std::string_view name = gate.Str("name");
    AddProblems(api::QualifiedNameProblems(name), here, name, errors);
    if (!seen.insert(name).second) errors->push_back(Duplicate(here, name));
  });
  if (!OrEmpty(spec.Find("schedulingGates")).items.empty() && !spec.Str("nodeName").empty()) {
    errors->push_back(Forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
  }
}

void RestartPolicies(const Value& spec, const Path& at, Version release, FieldErrors* errors) {
  for (std::string_view which : {"initContainers", "containers"}) {
    EachOf(spec, which, at, [&](const Value& c, const Path& here) {
      if (kRestartPolicies.Has(release)) {
        ValidateWord(c, "restartPolicy", here, {"Always", "Never", "OnFailure"}, errors);
      } else if (which == "initContainers") {
        ValidateWord(c, "restartPolicy", here, {"Always"}, errors);
      } else if (!c.Str("restartPolicy").empty()) {
        errors->push_back(Forbidden(here / "restartPolicy", "may not be set for non-init containers"));
      }
    });
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
  SpreadConstraints(spec, at, release, errors);
  Gates(spec, at, errors);
  ValidateWord(spec, "preemptionPolicy", at, {"PreemptLowerPriority", "Never"}, errors);
  if (const Value* os = spec.Find("os"); os != nullptr && os->IsObject()) {
    ValidateWord(*os, "name", at / "os", {"linux", "windows"}, errors);
  }
  EachEntry(spec, "overhead", at, [&](const std::string& name, const Value& amount, const Path& here) {
    ValidateQuantity(name, amount.text(), here, errors);
  });
  RestartPolicies(spec, at, release, errors);
}

void AllowGatedChanges(const Value& now, const Value& old, Value* munged, FieldErrors* errors) {
  const Value& old_gates = OrEmpty(old.Find("schedulingGates"));
  std::set<std::string> had;
  for (const Value& g : old_gates.items) had.insert(std::string(g.Str("name")));
  for (const Value& g : OrEmpty(now.Find("schedulingGates")).items) {
    if (had.contains(std::string(g.Str("name")))) continue;
    errors->push_back(Forbidden(
        "spec.schedulingGates",
        absl::StrCat("only deletion is allowed, but found new scheduling gate '", std::string(g.Str("name")), "'")));
  }
  SetAsIn(old, "schedulingGates", munged);
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
  SetAsIn(old, "nodeSelector", munged);

  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  const Value* old_node = old.At({"affinity", "nodeAffinity"});
  const Value* old_required = old.At({"affinity", "nodeAffinity", kRequired});
  const Value* required = now.At({"affinity", "nodeAffinity", kRequired});
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
