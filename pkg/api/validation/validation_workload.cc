// Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs and CronJobs.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "pkg/api/validation/schema.h"
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

// Labels as a server of the release shows them in errors.
std::string LabelsInMemory(const Value* labels, Version release) {
  if (kShowsJson.Has(release)) return JsonOf(labels);
  if (labels == nullptr || labels->empty()) return "map[string]string(nil)";
  std::map<std::string, std::string> sorted;
  for (size_t i = 0; i < labels->keys.size(); ++i) sorted[labels->keys[i]] = labels->items[i].text();
  std::string out = "map[string]string{";
  for (const auto& [key, value] : sorted) {
    absl::StrAppend(&out, out.ends_with('{') ? "" : ", ", util::GoQuoted(key), ":", util::GoQuoted(value));
  }
  return out + "}";
}

// Whether a server generates the selector of a Job, and the labels that it selects. Otherwise the Job has its own.
bool GeneratesSelector(const Value& job) {
  const Value* manual = job.At({"spec", "manualSelector"});
  return manual == nullptr || !manual->AsBool();
}

// Checks that a Job has no other selector than the one that a server generates for it.
void ValidateSelectorOfJob(const Value& job, FieldErrors* errors) {
  const Value* selector = job.At({"spec", "selector"});
  if (!GeneratesSelector(job) || selector == nullptr) return;
  const Value* labels = selector->Find("matchLabels");
  const Value* expressions = selector->Find("matchExpressions");
  const bool generated = labels != nullptr && labels->keys.size() == 1 && labels->keys[0].ends_with("controller-uid") &&
                         (expressions == nullptr || expressions->empty());
  if (!generated) {
    errors->push_back(InvalidRaw("spec.selector", ToSortedJson(*selector), "`selector` not auto-generated"));
  }
}

bool SelectsNothingGiven(const Value& selector) {
  return OrEmpty(selector.Find("matchLabels")).empty() && OrEmpty(selector.Find("matchExpressions")).empty();
}

// Checks that there is a selector, which is not empty, and that it selects the labels of the template.
void SelectorOfTemplate(const Value& object, const ResourceInfo& r, FieldErrors* errors) {
  const Value* selector = object.At({"spec", "selector"});
  const Value* labels = object.At({"spec", "template", "metadata", "labels"});
  const bool none = selector == nullptr || selector->IsNull();
  // A DaemonSet without one selects nothing, which is the only thing that is said.
  if (none && r.kind != "DaemonSet") errors->push_back(Required("spec.selector"));
  const bool any = !none && !SelectsNothingGiven(*selector);
  if (!none) ValidateLabelSelector(selector, Path("spec.selector"), errors);
  if (!none && !any && r.kind != "Job") {
    const std::string_view what = r.kind == "StatefulSet" ? "statefulset"
                                  : r.kind == "DaemonSet" ? "daemonset"
                                                          : "deployment";  // of ReplicaSets, too
    errors->push_back(InvalidRaw("spec.selector",
                                 kShowsJson.Has(r.release) ? "{}"
                                                           : "v1.LabelSelector{MatchLabels:map[string]string(nil), "
                                                             "MatchExpressions:[]v1.LabelSelectorRequirement(nil)}",
                                 absl::StrCat("empty selector is invalid for ", std::string(what))));
  }
  if (none || (any && !Selects(*selector, labels))) {
    errors->push_back(InvalidRaw("spec.template.metadata.labels", LabelsInMemory(labels, r.release),
                                 "`selector` does not match template `labels`"));
  }
}

// The selector must select the template's labels, and stays as it is in the versions that fix it.
void ValidateSelector(const Value& object, const ResourceInfo& r, const Value* old, FieldErrors* errors) {
  const Value* selector = object.At({"spec", "selector"});
  if (r.kind == "Job" && old == nullptr) {
    const bool none = selector == nullptr || selector->IsNull();
    if (none && GeneratesSelector(object)) return;  // it is generated before a server looks at it
    ValidateSelectorOfJob(object, errors);
  }
  if (r.kind == "ReplicationController") {
    const Value* labels = object.At({"spec", "template", "metadata", "labels"});
    const Value& wanted = OrEmpty(selector);
    if (wanted.empty()) errors->push_back(Required("spec.selector"));
    const bool selects = std::equal(
        wanted.keys.begin(), wanted.keys.end(), wanted.items.begin(),
        [&](const std::string& key, const Value& value) { return OrEmpty(labels).Str(key) == value.text(); });
    if (!wanted.empty() && object.At({"spec", "template"}) != nullptr && !selects) {
      errors->push_back(InvalidRaw("spec.template.metadata.labels", LabelsInMemory(labels, r.release),
                                   "`selector` does not match template `labels`"));
    }
    return;
  }
  SelectorOfTemplate(object, r, errors);
  if (old == nullptr || r.kind == "StatefulSet" || r.kind == "Job" || !kSelectorsAreFixed.Has(r.release)) return;
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
  const std::string_view type = strategy->Str("type");
  if (type == "Recreate") {
    if (!none) {
      errors->push_back(
          Forbidden("spec.strategy.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'"));
    }
  } else if (type != "RollingUpdate" && !type.empty()) {
    errors->push_back(NotSupported("spec.strategy.type", type, {"Recreate", "RollingUpdate"}));
  } else if (!none && IsZero(rolling->Find("maxUnavailable")) && IsZero(rolling->Find("maxSurge"))) {
    errors->push_back(InvalidRaw("spec.strategy.rollingUpdate.maxUnavailable",
                                 rolling->Find("maxUnavailable")->IsNumber()
                                     ? rolling->Find("maxUnavailable")->text()
                                     : util::GoQuoted(rolling->Find("maxUnavailable")->text()),
                                 "may not be 0 when `maxSurge` is 0"));
  }
  const int64_t deadline = IntOf(spec, "progressDeadlineSeconds");
  if (spec.Find("progressDeadlineSeconds") != nullptr && deadline <= IntOf(spec, "minReadySeconds")) {
    errors->push_back(InvalidRaw("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"));
  }
}

// Checks how the pods of a StatefulSet or DaemonSet are made and replaced.
void ValidateManagement(const Value& spec, const ResourceInfo& r, FieldErrors* errors) {
  const std::string_view type = OrEmpty(spec.Find("updateStrategy")).Str("type");
  const bool known = type.empty() || type == "RollingUpdate" || type == "OnDelete";
  if (r.kind == "DaemonSet") {
    if (!known) errors->push_back(NotSupported("spec.updateStrategy.type", type, {"OnDelete", "RollingUpdate"}));
    return;
  }
  const std::string_view order = spec.Str("podManagementPolicy");
  if (!order.empty() && order != "OrderedReady" && order != "Parallel") {
    errors->push_back(Invalid("spec.podManagementPolicy", order, "must be 'OrderedReady' or 'Parallel'"));
  }
  if (!known) {
    errors->push_back(InvalidRaw("spec.updateStrategy", JsonOf(spec.Find("updateStrategy")),
                                 "must be 'RollingUpdate' or 'OnDelete'"));
  }
}

// Checks what may change in a StatefulSet: members of its specification that say how many pods there are, and how.
void StatefulSetUpdate(const Value& object, const Value& old, Version release, FieldErrors* errors) {
  Value now = OrEmpty(object.Find("spec")), before = OrEmpty(old.Find("spec"));
  std::vector<std::string> may = {"replicas"};
  if (kClaimRetention.Has(release)) may.emplace_back("ordinals");
  for (const char* member : {"template", "updateStrategy"}) may.emplace_back(member);
  if (kChecksStatefulPods.Has(release)) may.emplace_back("revisionHistoryLimit");
  if (kClaimRetention.Has(release)) may.emplace_back("persistentVolumeClaimRetentionPolicy");
  const bool ready_seconds = kMaxSurgeOfDaemonSets.Has(release);
  if (ready_seconds) may.emplace_back("minReadySeconds");
  std::string list;
  for (size_t i = 0; i < may.size(); ++i) {
    now.Erase(may[i]);
    before.Erase(may[i]);
    // The older text has a comma before the last one.
    const char* const last = ready_seconds ? " and " : ", and ";
    absl::StrAppend(&list, i == 0 ? "" : i + 1 == may.size() ? last : ", ", "'", may[i], "'");
  }
  if (EncodeAlike(now, before, TypeOf("StatefulSetSpec", release))) return;
  errors->push_back(Forbidden("spec", absl::StrCat("updates to statefulset spec for fields other than ", list,
                                                   " are forbidden", ready_seconds ? "" : ".")));
}

// Checks what may change in a Job. The template of a suspended one may get other node selectors, tolerations, labels
// and annotations (JobMutableNodeSchedulingDirectives), and in later releases other resources.
void JobUpdate(const Value& object, const Value& old, Version release, FieldErrors* errors) {
  const Value& now = OrEmpty(object.Find("spec"));
  const Value& before = OrEmpty(old.Find("spec"));
  const auto immutable = [&](std::string_view member) {
    const std::string text = JsonOf(now.Find(member));
    if (text == JsonOf(before.Find(member))) return;
    errors->push_back(InvalidRaw(absl::StrCat("spec.", std::string(member)),
                                 now.Find(member) == nullptr ? "\"null\"" : text, "field is immutable"));
  };
  // The completions of an indexed Job may change together with its parallelism (ElasticIndexedJob).
  const bool elastic = kElasticJobs.Has(release) && now.Str("completionMode") == "Indexed" &&
                       JsonOf(now.Find("completions")) == JsonOf(now.Find("parallelism"));
  if (!elastic) immutable("completions");
  immutable("selector");
  Value pods = OrEmpty(now.Find("template")), old_pods = OrEmpty(before.Find("template"));
  if (kMutableSuspendedJobs.Has(release) && OrEmpty(before.Find("suspend")).AsBool()) {
    for (Value* t : {&pods, &old_pods}) {
      t->Erase("metadata");
      Value& spec = t->Child("spec");
      for (const char* member : {"nodeSelector", "tolerations", "affinity", "schedulingGates"}) spec.Erase(member);
      for (const char* which : {"containers", "initContainers"}) {
        Value* containers = spec.Find(which);
        if (containers == nullptr || !kMutableJobResources.Has(release)) continue;
        for (Value& c : containers->items) c.Erase("resources");
      }
    }
  }
  const TypeDef& type = TypeOf("PodTemplateSpec", release);
  std::string a, b;
  Encode(pods, type, &a);
  Encode(old_pods, type, &b);
  if (a != b) errors->push_back(InvalidRaw("spec.template", a, "field is immutable"));
  immutable("completionMode");
  immutable("podFailurePolicy");
  immutable("backoffLimitPerIndex");
}

std::set<std::string_view> ClaimTemplatesOf(const Value& spec) {
  std::set<std::string_view> names;
  for (const Value& claim : OrEmpty(spec.Find("volumeClaimTemplates")).items) {
    names.insert(OrEmpty(claim.Find("metadata")).Str("name"));
  }
  return names;
}

// Checks the restartPolicy of pods that a controller keeps running, or runs to their end.
void Restarts(std::string_view restart, const std::string& at, bool ends, FieldErrors* errors) {
  const bool may_end = restart == "Never" || restart == "OnFailure";
  if (!ends && may_end) errors->push_back(NotSupported(at, restart, {"Always"}));
  if (ends && !may_end) errors->push_back(Required(at, "valid values: \"OnFailure\", \"Never\""));
}

void ValidateTemplate(const Value& object, const Value& pods, const ResourceInfo& r, FieldErrors* errors) {
  const Path at("spec.template");
  const Path meta = at / "metadata";
  ValidateLabels(pods.At({"metadata", "labels"}), meta / "labels", errors);
  const Value& spec = OrEmpty(pods.Find("spec"));
  const std::string_view restart = spec.Str("restartPolicy");
  const std::string restart_at = "spec.template.spec.restartPolicy";
  // Before 1.34, the server looks at nothing else in the pods of a StatefulSet, as their mounts may name claim
  // templates.
  if (r.kind == "StatefulSet" && !kChecksStatefulPods.Has(r.release)) {
    if (restart != "Always") errors->push_back(NotSupported(restart_at, restart, {"Always"}));
  } else {
    std::set<std::string_view> claims;
    if (r.kind == "StatefulSet") claims = ClaimTemplatesOf(OrEmpty(object.Find("spec")));
    ValidatePodSpec(spec, at / "spec", r.release, errors, std::move(claims));
    Restarts(restart, restart_at, r.kind == "Job", errors);
  }
  if (r.kind != "Job" && r.kind != "ReplicationController" && spec.Find("activeDeadlineSeconds") != nullptr) {
    errors->push_back(Forbidden("spec.template.spec.activeDeadlineSeconds",
                                absl::StrCat("activeDeadlineSeconds in ",
                                             r.kind == "Deployment" ? "ReplicaSet" : r.kind, " is not Supported")));
  }
}

}  // namespace

void ValidateWorkload(const Value& object, const ResourceInfo& r, const Value* old, FieldErrors* errors) {
  const Value* spec = object.Find("spec");
  if (spec == nullptr) return;
  ValidateNotNegative(*spec,
                      {"replicas", "parallelism", "completions", "backoffLimit", "activeDeadlineSeconds",
                       "ttlSecondsAfterFinished", "minReadySeconds", "revisionHistoryLimit"},
                      "spec", errors);
  ValidateSelector(object, r, old, errors);
  if (r.kind == "Deployment") ValidateStrategy(*spec, errors);
  if (r.kind == "StatefulSet" || r.kind == "DaemonSet") ValidateManagement(*spec, r, errors);
  if (const Value* t = spec->Find("template")) ValidateTemplate(object, *t, r, errors);
  if (old != nullptr && r.kind == "StatefulSet") StatefulSetUpdate(object, *old, r.release, errors);
  if (old != nullptr && r.kind == "Job") JobUpdate(object, *old, r.release, errors);
}

void ValidateCronJob(const Value& object, Version release, FieldErrors* errors) {
  // A Job's name is the CronJob's and eleven characters for its time.
  constexpr size_t kLongestName = 52;
  const std::string_view name = OrEmpty(object.Find("metadata")).Str("name");
  if (name.size() > kLongestName) {
    errors->push_back(
        Invalid("metadata.name", name, absl::StrCat("must be no more than ", kLongestName, " characters")));
  }
  const Value& spec = OrEmpty(object.Find("spec"));
  const std::string_view concurrency = spec.Str("concurrencyPolicy");
  if (concurrency != "Allow" && concurrency != "Forbid" && concurrency != "Replace") {
    errors->push_back(NotSupported("spec.concurrencyPolicy", concurrency, {"Allow", "Forbid", "Replace"}));
  }
  ValidateNotNegative(spec, {"startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"}, "spec",
                      errors);
  const Value& job = OrEmpty(OrEmpty(spec.Find("jobTemplate")).Find("spec"));
  const Path at("spec.jobTemplate.spec");
  const Path pods = at / "template";
  if (OrEmpty(job.Find("manualSelector")).AsBool()) {
    errors->push_back({FieldError::Type::kNotSupported, (at / "manualSelector").str(),
                       "Unsupported value: true: supported values: \"nil, false\""});
  }
  const Value& pod = OrEmpty(OrEmpty(job.Find("template")).Find("spec"));
  ValidatePodSpec(pod, pods / "spec", release, errors);
  Restarts(pod.Str("restartPolicy"), "spec.jobTemplate.spec.template.spec.restartPolicy", true, errors);
}

}  // namespace berth::validation
