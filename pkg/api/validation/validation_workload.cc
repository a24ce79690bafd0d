// Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs and CronJobs.
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/api/validation/validation.h"
#include "pkg/util/go_text.h"

namespace berth::validation {
namespace {

bool Selects(const Value& selector, const Value* labels) {
  auto value_of = [&](std::string_view key) { return labels == nullptr ? nullptr : labels->Find(key); };
  if (const Value* wanted = selector.Find("matchLabels")) {
    for (size_t i = 0; i < wanted->keys.size(); ++i) {
      const Value* have = value_of(wanted->keys[i]);
      if (have == nullptr || have->text() != wanted->items[i].text()) return false;
    }
  }
  const Value* expressions = selector.Find("matchExpressions");
  if (expressions == nullptr) return true;
  return std::all_of(expressions->items.begin(), expressions->items.end(), [&](const Value& e) {
    const Value *have = value_of(e.Str("key")), *values = e.Find("values");
    const std::string_view op = e.Str("operator");
    const bool listed = have != nullptr && values != nullptr &&
                        std::any_of(values->items.begin(), values->items.end(),
                                    [&](const Value& v) { return v.text() == have->text(); });
    return op == "In" ? listed : op == "NotIn" ? !listed : op == "Exists" ? have != nullptr : have == nullptr;
  });
}

std::string JsonOf(const Value* v) {
  return v == nullptr ? "null" : ToSortedJson(*v);
}

// A server generates a Job's selector unless it is told not to, and accepts no other.
void ValidateSelectorOfJob(const Value& job, FieldErrors* errors) {
  const Value* manual = job.At({"spec", "manualSelector"});
  const Value* selector = job.At({"spec", "selector"});
  if ((manual != nullptr && manual->AsBool()) || selector == nullptr) return;
  const Value* labels = selector->Find("matchLabels");
  const Value* expressions = selector->Find("matchExpressions");
  const bool generated = labels != nullptr && labels->keys.size() == 1 && labels->keys[0].ends_with("controller-uid") &&
                         (expressions == nullptr || expressions->empty());
  if (!generated) {
    errors->push_back(InvalidRaw("spec.selector", ToSortedJson(*selector), "`selector` not auto-generated"));
  }
}

// The selector must select the template's labels, and stays as it is in the versions that fix it.
void ValidateSelector(const Value& object, const ResourceInfo& r, const Value* old, FieldErrors* errors) {
  static const Value kNone = Value::Object();
  const Value* selector = object.At({"spec", "selector"});
  if (r.kind == "Job" && old == nullptr) ValidateSelectorOfJob(object, errors);
  if (r.kind == "ReplicationController" || selector == nullptr || selector->IsNull()) return;
  const Value* labels = object.At({"spec", "template", "metadata", "labels"});
  if (!selector->empty() && !Selects(*selector, labels)) {
    errors->push_back(InvalidRaw("spec.template.metadata.labels", JsonOf(labels == nullptr ? &kNone : labels),
                                 "`selector` does not match template `labels`"));
  }
  if (old == nullptr || r.kind == "StatefulSet" || !kSelectorsAreFixed.Has(r.release)) return;
  const Value* before = old->At({"spec", "selector"});
  if (JsonOf(before) != JsonOf(selector)) {
    errors->push_back(InvalidRaw("spec.selector", JsonOf(selector), "field is immutable"));
  }
}

bool IsZero(const Value* v) {
  return v != nullptr && (v->IsNumber() ? v->AsInt() == 0 : v->text() == "0%" || v->text() == "0");
}

void ValidateStrategy(const Value& spec, FieldErrors* errors) {
  const Value* strategy = spec.Find("strategy");
  if (strategy == nullptr) return;
  const Value* rolling = strategy->Find("rollingUpdate");
  const bool none = rolling == nullptr || rolling->IsNull();
  if (strategy->Str("type") == "Recreate") {
    if (!none) {
      errors->push_back(
          Forbidden("spec.strategy.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'"));
    }
  } else if (!none && IsZero(rolling->Find("maxUnavailable")) && IsZero(rolling->Find("maxSurge"))) {
    errors->push_back(InvalidRaw("spec.strategy.rollingUpdate.maxUnavailable",
                                 rolling->Find("maxUnavailable")->IsNumber()
                                     ? rolling->Find("maxUnavailable")->text()
                                     : util::GoQuoted(rolling->Find("maxUnavailable")->text()),
                                 "may not be 0 when `maxSurge` is 0"));
  }
}

void ValidateTemplate(const Value& pods, const ResourceInfo& r, FieldErrors* errors) {
  const Path at("spec.template");
  const Path meta = at / "metadata";
  ValidateLabels(pods.At({"metadata", "labels"}), meta / "labels", errors);
  const Value* spec = pods.Find("spec");
  const std::string_view restart = spec == nullptr ? std::string_view() : spec->Str("restartPolicy");
  // Before 1.34, the server looks at nothing else in the pods of a StatefulSet, as their mounts may name claim
  // templates.
  if (r.kind == "StatefulSet") {
    if (restart != "Always") {
      errors->push_back(NotSupported("spec.template.spec.restartPolicy", restart, {"Always"}));
    }
    return;
  }
  if (spec != nullptr) ValidatePodSpec(*spec, at / "spec", r.release, errors);
  const bool ends = restart == "Never" || restart == "OnFailure";
  if (r.kind != "Job" && ends) {
    errors->push_back(NotSupported("spec.template.spec.restartPolicy", restart, {"Always"}));
  }
  if (r.kind == "Job" && !ends) {
    errors->push_back(Required("spec.template.spec.restartPolicy", "valid values: \"OnFailure\", \"Never\""));
  }
}

}  // namespace

void ValidateWorkload(const Value& object, const ResourceInfo& r, const Value* old, FieldErrors* errors) {
  const Value* spec = object.Find("spec");
  if (spec == nullptr) return;
  for (std::string_view member : {"replicas", "parallelism", "completions", "backoffLimit", "activeDeadlineSeconds"}) {
    const Value* n = spec->Find(member);
    if (n == nullptr || !n->IsNumber() || n->AsInt() >= 0) continue;
    errors->push_back(
        InvalidRaw(absl::StrCat("spec.", std::string(member)), n->text(), "must be greater than or equal to 0"));
  }
  ValidateSelector(object, r, old, errors);
  if (r.kind == "Deployment") ValidateStrategy(*spec, errors);
  if (const Value* t = spec->Find("template")) ValidateTemplate(*t, r, errors);
}

void ValidateCronJob(const Value& object, FieldErrors* errors) {
  // A Job's name is the CronJob's and eleven characters for its time.
  constexpr size_t kLongestName = 52;
  const Value* meta = object.Find("metadata");
  const std::string_view name = meta == nullptr ? std::string_view() : meta->Str("name");
  if (name.size() > kLongestName) {
    errors->push_back(
        Invalid("metadata.name", name, absl::StrCat("must be no more than ", kLongestName, " characters")));
  }
}

}  // namespace berth::validation
