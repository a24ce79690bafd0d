#include "pkg/world/workload.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_split.h>
#include <absl/time/time.h>

#include <algorithm>
#include <set>
#include <utility>

#include "pkg/util/contract.h"
#include "pkg/util/status.h"
#include "pkg/world/daemon_set.h"

namespace berth::world {
namespace {

constexpr std::string_view kHashLabel = "pod-template-hash";

// FNV-1a with 64 bits.
uint64_t Fnv(std::string_view text) {
  constexpr uint64_t kBasis = 0xcbf29ce484222325, kPrime = 0x100000001b3;
  uint64_t h = kBasis;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * kPrime;
  return h;
}

std::string Letters(uint64_t hash, size_t count) {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string out;
  for (; out.size() < count; hash /= kLetters.size()) out.push_back(kLetters[hash % kLetters.size()]);
  return out;
}

int64_t NumberOr(const Value* v, int64_t otherwise) {
  return v != nullptr && v->IsNumber() ? v->AsInt() : otherwise;
}
bool IsTrue(const Value* v) {
  return v != nullptr && v->AsBool();
}
const Value& SpecOf(const Value& object) {
  return validation::OrEmpty(object.Find("spec"));
}
const Value& TemplateOf(const Value& workload) {
  return validation::OrEmpty(SpecOf(workload).Find("template"));
}
bool IsIndexed(const Value& job) {
  return SpecOf(job).Str("completionMode") == "Indexed";
}

void SetLabel(Value* pod, std::string_view key, std::string_view value) {
  pod->Child("metadata").Child("labels").Set(key, Value::String(value));
}

// Returns the condition of a finished Job, "Complete" or "Failed"; empty for others.
std::string FinishedAs(const Value& job) {
  const Value* conditions = job.At({"status", "conditions"});
  if (conditions == nullptr) return "";
  for (const Value& c : conditions->items) {
    const std::string_view type = c.Str("type");
    if ((type == "Complete" || type == "Failed") && c.Str("status") == "True") return std::string(type);
  }
  return "";
}

// Adds the numbers of a text such as "0-2,5" to `out`.
void ReadIndexes(std::string_view text, std::set<int64_t>* out) {
  constexpr int64_t kMost = 1'000'000;
  for (absl::string_view part : absl::StrSplit(util::ToAbsl(text), ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> ends = absl::StrSplit(part, absl::MaxSplits('-', 1));
    int64_t first = 0, last = 0;
    if (!absl::SimpleAtoi(ends.first, &first)) continue;
    last = first;
    if (!ends.second.empty() && !absl::SimpleAtoi(ends.second, &last)) continue;
    for (int64_t i = first; i <= std::min(last, kMost); ++i) out->insert(i);
  }
}

WantedPods WantedByJob(const Value& job, const Rules& rules) {
  WantedPods wanted;
  const Value& spec = SpecOf(job);
  const Value& status = validation::OrEmpty(job.Find("status"));
  if (std::string as = FinishedAs(job); !as.empty()) {
    wanted.why_none = as == "Complete" ? "is complete" : "has failed";
    return wanted;
  }
  if (rules.indexed_jobs && IsTrue(spec.Find("suspend"))) {
    wanted.why_none = "is suspended";
    return wanted;
  }
  const std::string_view manager = spec.Str("managedBy");
  if (rules.job_managed_by && !manager.empty() && manager != "kubernetes.io/job-controller") {
    wanted.why_none = absl::StrCat("is managed by ", util::ToAbsl(manager));
    return wanted;
  }
  const int64_t succeeded = NumberOr(status.Find("succeeded"), 0);
  const int64_t parallelism = NumberOr(spec.Find("parallelism"), 1);
  const Value* completions = spec.Find("completions");
  const bool counted = completions != nullptr && completions->IsNumber();
  const bool neither = !counted && (spec.Find("parallelism") == nullptr || spec.Find("parallelism")->IsNull());
  if (counted || neither) {
    const int64_t left = (neither ? 1 : completions->AsInt()) - succeeded;
    wanted.count = std::max<int64_t>(0, std::min(parallelism, left));
  } else {
    wanted.count = succeeded > 0 ? 0 : parallelism;
  }
  if (wanted.count == 0) wanted.why_none = parallelism == 0 ? "has parallelism 0" : "has no completions left";
  if (!rules.indexed_jobs || !IsIndexed(job)) return wanted;
  std::set<int64_t> done;
  ReadIndexes(status.Str("completedIndexes"), &done);
  ReadIndexes(status.Str("failedIndexes"), &done);
  for (int64_t i = 0; counted && i < completions->AsInt(); ++i) {
    if (static_cast<int64_t>(wanted.numbers.size()) == wanted.count) break;
    if (!done.contains(i)) wanted.numbers.push_back(i);
  }
  wanted.count = static_cast<int64_t>(wanted.numbers.size());
  return wanted;
}

// Gives a pod of an Indexed Job its index.
void SetIndex(const Value& job, int64_t index, const Rules& rules, Value* pod) {
  constexpr char kIndex[] = "batch.kubernetes.io/job-completion-index";
  const std::string text = absl::StrCat(index);
  Value& meta = pod->Child("metadata");
  meta.Child("annotations").Set(kIndex, Value::String(text));
  if (rules.job_index_label) SetLabel(pod, kIndex, text);
  if (const Value* limit = SpecOf(job).Find("backoffLimitPerIndex"); limit != nullptr && limit->IsNumber()) {
    pod->Child("metadata").Child("annotations").Set("batch.kubernetes.io/job-index-failure-count", Value::String("0"));
  }
  const std::string name = absl::StrCat(util::ToAbsl(NameOf(job)), "-", index);
  pod->Child("metadata").Set("generateName", Value::String(name + "-"));
  Value& spec = pod->Child("spec");
  if (spec.Str("hostname").empty()) spec.Set("hostname", Value::String(name));
  const std::string field = rules.job_index_label ? "metadata.labels['batch.kubernetes.io/job-completion-index']"
                                                  : "metadata.annotations['batch.kubernetes.io/job-completion-index']";
  for (std::string_view list : {"initContainers", "containers"}) {
    Value* containers = spec.Find(list);
    if (containers == nullptr) continue;
    for (Value& c : containers->items) {
      constexpr std::string_view kVariable = "JOB_COMPLETION_INDEX";
      const Value* env = c.Find("env");
      if (env == nullptr || env->IsNull()) c.Set("env", Value::Array());
      Value& variables = *c.Find("env");
      auto is_index = [&](const Value& v) { return v.Str("name") == kVariable; };
      if (std::any_of(variables.items.begin(), variables.items.end(), is_index)) continue;
      Value variable = Value::Object();
      variable.Set("name", Value::String(kVariable));
      Value& ref = variable.Child("valueFrom").Child("fieldRef");
      ref.SetAll({{"apiVersion", "v1"}, {"fieldPath", field}});
      variables.Append(std::move(variable));
    }
  }
}

Value PodOfJob(const Value& job, std::optional<int64_t> index, const Rules& rules) {
  Value pod = PodOfTemplate(TemplateOf(job), job);
  if (rules.job_finalizer) {
    Value& meta = pod.Child("metadata");
    const Value* there = meta.Find("finalizers");
    Value finalizers = there != nullptr && there->IsArray() ? *there : Value::Array();
    finalizers.Append(Value::String("batch.kubernetes.io/job-tracking"));
    meta.Set("finalizers", std::move(finalizers));
  }
  if (index) SetIndex(job, *index, rules, &pod);
  return pod;
}

std::string ClaimName(const Value& claim_template, const Value& set, int64_t ordinal) {
  return absl::StrCat(util::ToAbsl(NameOf(claim_template)), "-", util::ToAbsl(NameOf(set)), "-", ordinal);
}

Value PodOfStatefulSet(const Value& set, int64_t ordinal, const Rules& rules) {
  Value pod = PodOfTemplate(TemplateOf(set), set);
  const std::string set_name(NameOf(set)), name = absl::StrCat(set_name, "-", ordinal);
  pod.Child("metadata").Set("name", Value::String(name));
  SetLabel(&pod, "statefulset.kubernetes.io/pod-name", name);
  if (rules.stateful_index_label) SetLabel(&pod, "apps.kubernetes.io/pod-index", absl::StrCat(ordinal));
  SetLabel(&pod, "controller-revision-hash", absl::StrCat(set_name, "-", TemplateHash(TemplateOf(set))));
  Value& spec = pod.Child("spec");
  spec.Set("hostname", Value::String(name));
  if (std::string_view service = SpecOf(set).Str("serviceName"); !service.empty()) {
    spec.Set("subdomain", Value::String(service));
  }
  const Value* claims = SpecOf(set).Find("volumeClaimTemplates");
  if (claims == nullptr || claims->empty()) return pod;
  Value volumes = Value::Array();
  std::set<std::string> of_claims;
  for (const Value& c : claims->items) {
    of_claims.emplace(NameOf(c));
    Value volume = Value::Object();
    volume.Set("name", Value::String(NameOf(c)));
    volume.Child("persistentVolumeClaim").Set("claimName", Value::String(ClaimName(c, set, ordinal)));
    volumes.Append(std::move(volume));
  }
  if (const Value* own = spec.Find("volumes")) {
    for (const Value& v : own->items) {
      if (!of_claims.contains(std::string(v.Str("name")))) volumes.Append(v);
    }
  }
  spec.Set("volumes", std::move(volumes));
  return pod;
}

}  // namespace

bool IsWorkload(std::string_view kind) {
  static constexpr std::string_view kKinds[] = {
      "ReplicaSet", "ReplicationController", "Deployment", "StatefulSet", "Job", "DaemonSet"};
  return std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
}

std::string TemplateHash(const Value& pod_template) {
  constexpr size_t kLength = 10;
  const Value* labels = pod_template.At({"metadata", "labels"});
  if (labels == nullptr || labels->Find(kHashLabel) == nullptr) {
    return Letters(Fnv(validation::ToSortedJson(pod_template)), kLength);
  }
  Value copy = pod_template;
  copy.At({"metadata", "labels"})->Erase(kHashLabel);
  return Letters(Fnv(validation::ToSortedJson(copy)), kLength);
}

std::string MadeUpUid(std::string_view kind, std::string_view ns, std::string_view name) {
  const uint64_t a = Fnv(absl::StrCat(util::ToAbsl(kind), "/", util::ToAbsl(ns), "/", util::ToAbsl(name)));
  const uint64_t b = Fnv(absl::StrCat(util::ToAbsl(name), "/", util::ToAbsl(ns), "/", util::ToAbsl(kind)));
  std::string uid = absl::StrFormat("%016x%016x", a, b);
  for (size_t at : {20, 16, 12, 8}) uid.insert(at, 1, '-');
  uid[14] = '4';
  return uid;
}

Value ControllerReference(const Value& owner, std::string_view uid) {
  Value reference =
      Value::Object({{"apiVersion", owner.Str("apiVersion")}, {"kind", owner.Str("kind")}, {"name", NameOf(owner)}});
  std::string own(validation::OrEmpty(owner.Find("metadata")).Str("uid"));
  if (own.empty()) own = uid.empty() ? MadeUpUid(owner.Str("kind"), NamespaceOf(owner), NameOf(owner)) : uid;
  reference.SetAll({{"uid", own}, {"controller", true}, {"blockOwnerDeletion", true}});
  return reference;
}

Value PodOfTemplate(const Value& pod_template, const Value& owner) {
  Value pod = Value::Object({{"apiVersion", "v1"}, {"kind", "Pod"}});
  Value& meta = pod.Child("metadata");
  meta.SetAll({{"generateName", absl::StrCat(util::ToAbsl(NameOf(owner)), "-")}, {"namespace", NamespaceOf(owner)}});
  const Value& own = validation::OrEmpty(pod_template.Find("metadata"));
  for (std::string_view member : {"labels", "annotations", "finalizers"}) {
    const Value* v = own.Find(member);
    if (v != nullptr && !v->IsNull() && !v->empty()) meta.Set(member, *v);
  }
  meta.Set("ownerReferences", Value::Array()).Append(ControllerReference(owner));
  pod.Set("spec", SpecOf(pod_template));
  return pod;
}

Value ReplicaSetOf(const Value& deployment) {
  const std::string hash = TemplateHash(TemplateOf(deployment));
  Value set = Value::Object({{"apiVersion", "apps/v1"}, {"kind", "ReplicaSet"}});
  const std::string name = absl::StrCat(util::ToAbsl(NameOf(deployment)), "-", hash);
  const std::string ns(NamespaceOf(deployment));
  Value meta = Value::Object({{"name", name}, {"namespace", ns}});
  Value pod_template = TemplateOf(deployment);
  pod_template.Child("metadata").Child("labels").Set(kHashLabel, Value::String(hash));
  meta.Set("labels", *pod_template.At({"metadata", "labels"}));
  meta.Set("ownerReferences", Value::Array()).Append(ControllerReference(deployment));
  set.Set("metadata", std::move(meta));
  Value spec = Value::Object();
  spec.Set("replicas", Value::Int(NumberOr(SpecOf(deployment).Find("replicas"), 1)));
  if (const Value* ready = SpecOf(deployment).Find("minReadySeconds")) spec.Set("minReadySeconds", *ready);
  const Value* selector = SpecOf(deployment).Find("selector");
  Value own = selector != nullptr && selector->IsObject() ? *selector : Value::Object();
  if (own.empty()) {
    if (const Value* labels = TemplateOf(deployment).At({"metadata", "labels"})) own.Set("matchLabels", *labels);
  }
  own.Child("matchLabels").Set(kHashLabel, Value::String(hash));
  spec.Set("selector", std::move(own));
  spec.Set("template", std::move(pod_template));
  set.Set("spec", std::move(spec));
  return set;
}

void CompleteJob(const Rules& rules, Value* job) {
  BERTH_REQUIRES(job->At({"metadata", "uid"}) != nullptr);
  Value& spec = job->Child("spec");
  auto copy_labels = [&] {
    const Value *own = job->At({"metadata", "labels"}), *labels = job->At({"spec", "template", "metadata", "labels"});
    if (labels == nullptr || (own != nullptr && !own->IsNull() && !own->empty())) return;
    Value copy = *labels;
    job->Child("metadata").Set("labels", std::move(copy));
  };
  if (IsTrue(spec.Find("manualSelector"))) return copy_labels();
  const std::string name(NameOf(*job)), uid(validation::OrEmpty(job->Find("metadata")).Str("uid"));
  const std::string prefix = rules.prefixed_job_labels ? "batch.kubernetes.io/" : "";
  spec.Child("selector").Child("matchLabels").Set(prefix + "controller-uid", Value::String(uid));
  Value& labels = spec.Child("template").Child("metadata").Child("labels");
  for (const std::string& p : {std::string(), prefix}) {
    labels.Set(p + "controller-uid", Value::String(uid));
    labels.Set(p + "job-name", Value::String(name));
  }
  copy_labels();
}

WantedPods PodsWantedBy(std::string_view kind, const Value& workload, const Rules& rules) {
  if (kind == "Job") return WantedByJob(workload, rules);
  WantedPods wanted;
  if (kind == "DaemonSet") return wanted;
  const Value& spec = SpecOf(workload);
  wanted.count = NumberOr(spec.Find("replicas"), 1);
  if (wanted.count == 0) wanted.why_none = "has replicas 0";
  if (kind != "StatefulSet") return wanted;
  const Value* start = rules.stateful_start ? spec.At({"ordinals", "start"}) : nullptr;
  const int64_t first = NumberOr(start, 0);
  for (int64_t i = 0; i < wanted.count; ++i) wanted.numbers.push_back(first + i);
  return wanted;
}

Value PodOf(std::string_view kind, const Value& workload, std::optional<int64_t> number, const Rules& rules) {
  if (kind == "Deployment") return PodOf("ReplicaSet", ReplicaSetOf(workload), number, rules);
  if (kind == "StatefulSet") return PodOfStatefulSet(workload, number.value_or(0), rules);
  if (kind == "Job") return PodOfJob(workload, number, rules);
  if (kind == "DaemonSet") return PodOfDaemonSet(workload, rules);
  return PodOfTemplate(TemplateOf(workload), workload);
}

std::vector<Value> ClaimsOfOrdinal(const Value& set, int64_t ordinal) {
  std::vector<Value> claims;
  const Value* templates = SpecOf(set).Find("volumeClaimTemplates");
  if (templates == nullptr) return claims;
  const Value& selected = validation::OrEmpty(SpecOf(set).At({"selector", "matchLabels"}));
  for (const Value& t : templates->items) {
    Value claim = Value::Object({{"apiVersion", "v1"}, {"kind", "PersistentVolumeClaim"}});
    Value meta = validation::OrEmpty(t.Find("metadata"));
    meta.SetAll({{"name", ClaimName(t, set, ordinal)}, {"namespace", NamespaceOf(set)}});
    for (size_t i = 0; i < selected.keys.size(); ++i) meta.Child("labels").Set(selected.keys[i], selected.items[i]);
    claim.Set("metadata", std::move(meta));
    claim.Set("spec", SpecOf(t));
    claims.push_back(std::move(claim));
  }
  return claims;
}

std::vector<Value> EphemeralClaims(const Value& pod) {
  BERTH_REQUIRES(pod.At({"metadata", "name"}) != nullptr);
  std::vector<Value> claims;
  const Value* volumes = SpecOf(pod).Find("volumes");
  if (volumes == nullptr) return claims;
  for (const Value& v : volumes->items) {
    const Value* t = v.At({"ephemeral", "volumeClaimTemplate"});
    if (t == nullptr) continue;
    Value claim = Value::Object({{"apiVersion", "v1"}, {"kind", "PersistentVolumeClaim"}});
    Value meta = Value::Object({{"name", absl::StrCat(util::ToAbsl(NameOf(pod)), "-", util::ToAbsl(v.Str("name")))},
                                {"namespace", NamespaceOf(pod)}});
    const Value& own = validation::OrEmpty(t->Find("metadata"));
    for (std::string_view member : {"labels", "annotations"}) {
      if (const Value* m = own.Find(member); m != nullptr && !m->IsNull()) meta.Set(member, *m);
    }
    Value owner = pod;
    owner.SetAll({{"apiVersion", "v1"}, {"kind", "Pod"}});
    meta.Set("ownerReferences", Value::Array()).Append(ControllerReference(owner));
    claim.Set("metadata", std::move(meta));
    claim.Set("spec", SpecOf(*t));
    claims.push_back(std::move(claim));
  }
  return claims;
}

Value JobOfCronJob(const Value& cron_job, int64_t seconds, const Rules& rules) {
  constexpr int64_t kMinute = 60;
  const Value& job_template = validation::OrEmpty(SpecOf(cron_job).Find("jobTemplate"));
  const Value& own = validation::OrEmpty(job_template.Find("metadata"));
  Value job = Value::Object({{"apiVersion", "batch/v1"}, {"kind", "Job"}});
  Value meta = Value::Object();
  const int64_t number = rules.cron_names_in_minutes ? seconds / kMinute : seconds;
  meta.SetAll(
      {{"name", absl::StrCat(util::ToAbsl(NameOf(cron_job)), "-", number)}, {"namespace", NamespaceOf(cron_job)}});
  for (std::string_view member : {"labels", "annotations"}) {
    if (const Value* m = own.Find(member); m != nullptr && !m->IsNull()) meta.Set(member, *m);
  }
  if (rules.cron_names_in_minutes) {
    const std::string time =
        absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixSeconds(seconds), absl::UTCTimeZone());
    meta.Child("annotations").Set("batch.kubernetes.io/cronjob-scheduled-timestamp", Value::String(time));
  }
  meta.Set("ownerReferences", Value::Array()).Append(ControllerReference(cron_job));
  job.Set("metadata", std::move(meta));
  job.Set("spec", SpecOf(job_template));
  return job;
}

}  // namespace berth::world
