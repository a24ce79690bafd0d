#include "pkg/simulate/living_input.h"

#include <absl/strings/str_cat.h>
#include <absl/time/time.h>

#include <algorithm>
#include <utility>

#include "pkg/api/scheduling_fields.h"
#include "pkg/api/validation/resources.h"
#include "pkg/simulate/input.h"
#include "pkg/simulate/times.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"
#include "pkg/world/kinds.h"
#include "pkg/world/living/fields.h"
#include "pkg/world/living/kubelets.h"
#include "pkg/world/living/pod_status.h"
#include "pkg/world/living/schedule.h"
#include "pkg/world/workload.h"

namespace berth::simulate {
namespace {

using world::Value;
using world::living::TextAt;

// What says nothing to controllers, kubelets and schedulers, or is written anew.
constexpr std::string_view kLeftOut[] = {"Event", "Lease", "Endpoints", "EndpointSlice"};

const absl::Time kStart = absl::FromUnixSeconds(VirtualClock::kStartSeconds);

// Makes times that are after the beginning the beginning, everywhere in the value.
void PullTimes(const std::string& start, Value* v) {
  // "2006-01-02T15:04:05Z"; such texts are ordered as the times are.
  const std::string& t = v->text();
  if (v->IsString() && t.size() == start.size() && t[4] == '-' && t[10] == 'T' && t.back() == 'Z' && t > start) {
    *v = Value::String(start);
  }
  for (Value& item : v->items) PullTimes(start, &item);
}

void PullTimesOf(Value* object) {
  const std::string start = world::living::TimeText(kStart);
  Value& meta = object->Child("metadata");
  for (std::string_view member : {"creationTimestamp", "deletionTimestamp"}) {
    if (Value* time = meta.Find(member)) PullTimes(start, time);
  }
  if (Value* status = object->Find("status")) PullTimes(start, status);
}

// What a server gives a new object is taken from it.
void Unstore(Value* object) {
  Value& meta = object->Child("metadata");
  for (std::string_view member : {"uid", "resourceVersion", "creationTimestamp", "selfLink", "generation"}) {
    meta.Erase(member);
  }
  object->Erase("status");
}

// A node of an input that is not ready has no kubelet that runs.
void CompleteNode(Value* node) {
  const Value* ready = world::living::ConditionOf(*node, "Ready");
  if (ready != nullptr && ready->Str("status") != "True") {
    node->Child("metadata").Child("annotations").Set(world::living::kDownAnnotation, Value::String("true"));
  }
  Value& status = node->Child("status");
  if (const Value* capacity = status.Find("capacity"); capacity != nullptr && status.Find("allocatable") == nullptr) {
    Value same = *capacity;
    status.Set("allocatable", std::move(same));
  }
}

// A pod with a node of which nobody says how it is has been running.
void CompleteBoundPod(Value* pod) {
  if (!TextAt(*pod, {"status", "phase"}).empty()) return;
  pod->Child("status").Set("phase", Value::String("Pending"));
  world::living::WriteCreating("", kStart, pod);
  world::living::WriteRunning("", true, 0, kStart, pod);
}

// The times of a CronJob count from the beginning of the simulation.
void CompleteCronJob(Value* cron) {
  cron->Child("metadata").Set("creationTimestamp", Value::String(world::living::TimeText(kStart)));
  if (Value* status = cron->Find("status")) status->Erase("lastScheduleTime");
}

const Value* TemplateOf(const Value& workload) {
  const bool cron = workload.Str("kind") == "CronJob";
  return cron ? workload.At({"spec", "jobTemplate", "spec", "template"}) : workload.At({"spec", "template"});
}

absl::Status ErrorIn(const lab::Given& given, const std::string& what) {
  const Value& v = *given.object;
  const std::string ns(world::NamespaceOf(v).empty() ? "default" : world::NamespaceOf(v));
  return util::InvalidArgument(absl::StrCat(given.place, ": ", util::ToAbsl(v.Str("kind")), " \"", ns, "/",
                                            util::ToAbsl(world::NameOf(v)), "\": ", what));
}

// Reads an annotation of a workload's template as a time.
absl::Status ReadTemplateTime(const lab::Given& given, const char* annotation, Micros* out) {
  const Value* pod = TemplateOf(*given.object);
  const std::string_view text = pod == nullptr ? "" : world::AnnotationOf(*pod, annotation);
  if (text.empty()) return absl::OkStatus();
  auto time = ParseTime(text);
  if (time.ok()) {
    *out = *time;
    return absl::OkStatus();
  }
  const bool cron = given.object->Str("kind") == "CronJob";
  return ErrorIn(given, absl::StrCat(cron ? "spec.jobTemplate.spec.template" : "spec.template",
                                     ".metadata.annotations[", annotation, "]: ", util::Message(time.status())));
}

absl::Status CheckCronJob(const lab::Given& given) {
  const auto errors = world::living::ValidateSchedule(*given.object);
  return errors.empty() ? absl::OkStatus() : ErrorIn(given, errors[0].Text());
}

}  // namespace

bool LivingInput::MakesPods(std::string_view kind) {
  return kind == "CronJob" || world::IsWorkload(kind);
}

absl::StatusOr<LivingInput> LivingInput::Of(const lab::Scenario& scenario, const std::vector<Step>& steps) {
  LivingInput in;
  absl::flat_hash_set<std::string> joining, uids;
  for (const Step& s : steps) {
    if (s.kind == Step::Kind::kJoin) joining.insert(s.nodes[0]);
  }
  std::vector<const lab::Given*> bound;
  for (const lab::Given& g : scenario.given) {
    const Value& v = *g.object;
    const std::string_view kind = v.Str("kind");
    uids.insert(std::string(world::living::UidOf(v)));
    if (std::find(std::begin(kLeftOut), std::end(kLeftOut), kind) != std::end(kLeftOut)) continue;
    if (MakesPods(kind)) {
      if (!world::IsOwnGroup(kind, v.Str("apiVersion"))) continue;
      Workload w{&g, 0};
      Micros ignored = 0;
      BERTH_RETURN_IF_ERROR(ReadTemplateTime(g, kTimeAnnotation, &w.at));
      BERTH_RETURN_IF_ERROR(ReadTemplateTime(g, kDurationAnnotation, &ignored));
      if (kind == "CronJob") BERTH_RETURN_IF_ERROR(CheckCronJob(g));
      in.workloads_.push_back(w);
    } else if (kind == "Pod") {
      const std::string ns(world::NamespaceOf(v).empty() ? "default" : world::NamespaceOf(v));
      const bool waits = TextAt(v, {"spec", "nodeName"}).empty();
      in.waiting_[absl::StrCat(ns, "/", util::ToAbsl(world::NameOf(v)))] = &g;
      if (!waits) bound.push_back(&g);
    } else if (kind == "Node") {
      in.nodes_[std::string(world::NameOf(v))] = &g;
      if (!joining.contains(std::string(world::NameOf(v)))) in.first_.push_back(&g);
    } else {
      in.first_.push_back(&g);
    }
  }
  in.first_.insert(in.first_.end(), bound.begin(), bound.end());
  std::stable_partition(in.workloads_.begin(), in.workloads_.end(),
                        [](const Workload& w) { return w.given->object->Str("kind") == "DaemonSet"; });
  for (const lab::Given& g : scenario.given) {
    const Value* owners = g.object->At({"metadata", "ownerReferences"});
    if (owners == nullptr) continue;
    for (const Value& o : owners->items) {
      if (!uids.contains(std::string(o.Str("uid")))) in.absent_owners_.insert(std::string(o.Str("uid")));
    }
  }
  return in;
}

Value LivingInput::Stored(const lab::Given& given) {
  Value v = *given.object;
  PullTimesOf(&v);
  const std::string kind(v.Str("kind"));
  if (kind == "Node") CompleteNode(&v);
  if (kind == "Pod" && !TextAt(v, {"spec", "nodeName"}).empty()) CompleteBoundPod(&v);
  if (kind == "CronJob") CompleteCronJob(&v);
  return v;
}

Value LivingInput::PodOf(const Arrival& a, bool* verbatim) const {
  const auto given = waiting_.find(a.pod->meta.Key());
  Value v;
  if (given != waiting_.end()) {
    v = *given->second->object;
    *verbatim = given->second->verbatim;
  } else {
    const auto fields = api::TemplateFields(a.pod->tmpl);
    auto parsed = validation::ParseJson(fields == nullptr ? "{}" : *fields);
    if (parsed.ok()) v = *std::move(parsed);
    v.SetAll({{"kind", "Pod"}, {"apiVersion", "v1"}});
    *verbatim = false;
    if (Value* containers = v.Child("spec").Find("containers")) {
      for (Value& c : containers->items) {
        if (c.Str("name").empty()) c.Set("name", Value::String("c"));
        if (c.Str("image").empty()) c.Set("image", Value::String("none"));
      }
    }
  }
  const std::string uid(TextAt(v, {"metadata", "uid"}));
  Unstore(&v);
  v.Child("status").Set("phase", Value::String("Pending"));
  Value& spec = v.Child("spec");
  if (!a.as_is) spec.Erase("nodeName");
  // A pod that ends shall not be started again, unless it is one of a controller.
  const bool is_owned = a.as_is && v.At({"metadata", "ownerReferences"}) != nullptr;
  if (a.duration != kNever && !is_owned) spec.Set("restartPolicy", Value::String("Never"));
  Value& meta = v.Child("metadata");
  if (a.as_is && !uid.empty()) meta.Set("uid", Value::String(uid));
  meta.Set("name", Value::String(a.as_is ? a.pod->meta.name : a.name));
  meta.Set("namespace", Value::String(a.pod->meta.ns.str()));
  if (!a.as_is) meta.Erase("ownerReferences");
  if (a.duration != kNever) {
    meta.Child("annotations").Set(kDurationAnnotation, Value::String(absl::StrCat(a.duration, "us")));
  }
  return v;
}

Value LivingInput::NodeOf(const Step& join) const {
  const auto given = nodes_.find(join.nodes[0]);
  Value v;
  if (given != nodes_.end()) {
    v = Stored(*given->second);
  } else if (join.joins->meta.fields != nullptr) {
    if (auto parsed = validation::ParseJson(*join.joins->meta.fields); parsed.ok()) v = *std::move(parsed);
    CompleteNode(&v);
  }
  v.SetAll({{"kind", "Node"}, {"apiVersion", "v1"}});
  Value& meta = v.Child("metadata");
  meta.Set("name", Value::String(join.nodes[0]));
  for (std::string_view member : {"uid", "resourceVersion", "creationTimestamp"}) meta.Erase(member);
  return v;
}

void AddWorkloads(const lab::Scenario& scenario, WorkloadPods* workloads) {
  for (const lab::Given& g : scenario.given) {
    const Value& v = *g.object;
    if (!world::IsWorkload(v.Str("kind"))) continue;
    const std::string ns(world::NamespaceOf(v).empty() ? "default" : world::NamespaceOf(v));
    workloads->emplace(absl::StrCat(util::ToAbsl(v.Str("kind")), " ", ns, "/", util::ToAbsl(world::NameOf(v))),
                       nullptr);
  }
}

std::string WhyControllers(const lab::Scenario& scenario, const std::vector<Step>& steps, bool has_end) {
  for (const Step& s : steps) {
    if (s.kind == Step::Kind::kRestart) return absl::StrCat(s.workload, " is restarted");
  }
  if (!scenario.goes_on.empty()) return absl::StrCat(scenario.goes_on, " has more completions than pods at one time");
  const auto& catalog = validation::Catalog::Of(scenario.algorithm.release->version);
  const bool has_cron_jobs = catalog.FindKind("batch/v1", "CronJob") != nullptr;
  if (!scenario.repeats.empty() && has_end && has_cron_jobs) return absl::StrCat("of ", scenario.repeats);
  return {};
}

Micros DurationOf(const Value& pod) {
  const std::string_view text = world::AnnotationOf(pod, kDurationAnnotation);
  if (text.empty()) return kNever;
  const auto time = ParseTime(text);
  return time.ok() ? *time : kNever;
}

}  // namespace berth::simulate
