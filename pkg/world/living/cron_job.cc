// CronJobs (pkg/controller/cronjob, 1.36).
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "pkg/util/status.h"
#include "pkg/world/living/actors.h"
#include "pkg/world/living/owned_pods.h"
#include "pkg/world/living/schedule.h"
#include "pkg/world/workload.h"

namespace berth::world::living {
namespace {

constexpr char kCronComponent[] = "cronjob-controller";
constexpr char kTime[] = "batch.kubernetes.io/cronjob-scheduled-timestamp";

bool IsOver(const Value& job) {
  return IsConditionTrue(job, "Complete") || IsConditionTrue(job, "Failed");
}

class CronJobs final : public Actor {
 public:
  explicit CronJobs(World* world) : world_(world) {}

  void OnChange(const Change& c) override {
    if (c.kind == "CronJob" && !c.gone) Look(NamespaceOf(*c.object), NameOf(*c.object));
    if (c.kind != "Job") return;
    const Value* owner = ControllerOf(*c.object);
    if (owner != nullptr && owner->Str("kind") == "CronJob") Look(NamespaceOf(*c.object), owner->Str("name"));
  }

  void Sync(const ObjectName& what) override {
    const ValuePtr found = world_->cluster().Get("CronJob", what.ns, what.name);
    if (found == nullptr || IsTerminating(*found)) return;
    Value cron = *found;
    std::vector<ValuePtr> jobs;
    for (const ObjectName& dependent : world_->Dependents(UidOf(cron))) {
      if (dependent.kind != "Job" || dependent.ns != what.ns) continue;
      const ValuePtr job = world_->cluster().Get("Job", dependent.ns, dependent.name);
      const Value* owner = job == nullptr ? nullptr : ControllerOf(*job);
      if (owner != nullptr && owner->Str("uid") == UidOf(cron)) jobs.push_back(job);
    }
    std::sort(jobs.begin(), jobs.end(), [](const ValuePtr& a, const ValuePtr& b) {
      return std::pair(TextAt(*a, {"metadata", "creationTimestamp"}), NameOf(*a)) <
             std::pair(TextAt(*b, {"metadata", "creationTimestamp"}), NameOf(*b));
    });
    Start(what, &jobs, &cron);
    Report(jobs, &cron);
    WriteStatus(world_, "CronJob", *found, std::move(cron));
    Trim(jobs, *found, "Complete", "successfulJobsHistoryLimit", 3);
    Trim(jobs, *found, "Failed", "failedJobsHistoryLimit", 1);
  }

 private:
  void Look(std::string_view ns, std::string_view name) {
    world_->Enqueue(this, {"CronJob", std::string(ns), std::string(name)});
  }

  // Makes the Job of the latest time that has come, and comes back at the next one.
  void Start(const ObjectName& what, std::vector<ValuePtr>* jobs, Value* cron) {
    if (TrueAt(*cron, {"spec", "suspend"})) return;
    const auto schedule = Schedule::Parse(TextAt(*cron, {"spec", "schedule"}));
    absl::TimeZone zone = absl::UTCTimeZone();
    const std::string_view zone_name = TextAt(*cron, {"spec", "timeZone"});
    const bool zone_is_known = zone_name.empty() || absl::LoadTimeZone(util::ToAbsl(zone_name), &zone);
    if (!schedule.ok() || !zone_is_known) {
      world_->Record(*cron, kCronComponent, "", "Warning", schedule.ok() ? "UnknownTimeZone" : "UnparseableSchedule",
                     schedule.ok() ? absl::StrCat("invalid timeZone: \"", util::ToAbsl(zone_name), "\"")
                                   : absl::StrCat("unparseable schedule: ", util::Message(schedule.status())));
      return;
    }
    const absl::Time since =
        std::max(TimeAt(*cron, {"status", "lastScheduleTime"}), TimeAt(*cron, {"metadata", "creationTimestamp"}));
    const auto time = schedule->LastBetween(since, world_->Now(), zone);
    auto next = schedule->Next(time.value_or(since), zone);
    if (next && *next <= world_->Now()) next = schedule->Next(world_->Now(), zone);
    if (next) world_->Enqueue(this, what, *next - world_->Now());
    const int64_t late = NumberAt(*cron, {"spec", "startingDeadlineSeconds"}, -1);
    if (!time || (late >= 0 && *time <= world_->Now() - absl::Seconds(late))) return;
    Value job = JobOfCronJob(*cron, absl::ToUnixSeconds(*time), world_->rules());
    // The Job of this time may be there, and the status that says so could not be written.
    const auto is_it = [&](const ValuePtr& other) { return NameOf(*other) == NameOf(job); };
    if (std::any_of(jobs->begin(), jobs->end(), is_it)) {
      cron->Child("status").Set("lastScheduleTime", Value::String(TimeText(*time)));
      return;
    }
    if (!MayStart(*jobs, *cron)) return;
    if (world_->rules().cron_names_in_minutes) {
      job.Child("metadata")
          .Child("annotations")
          .Set(kTime, Value::String(absl::FormatTime("%Y-%m-%dT%H:%M:%S%Ez", *time, zone)));
      if (zone == absl::UTCTimeZone()) {
        job.Child("metadata").Child("annotations").Set(kTime, Value::String(TimeText(*time)));
      }
    }
    Value stored;
    if (Written refused = world_->cluster().Create("Job", std::move(job), &stored)) {
      if (refused->code != 409) {
        world_->Record(*cron, kCronComponent, "", "Warning", "FailedCreate",
                       absl::StrCat("Error creating job: ", refused->message));
        return;
      }
    } else {
      world_->Record(*cron, kCronComponent, "", "Normal", "SuccessfulCreate",
                     absl::StrCat("Created job ", util::ToAbsl(NameOf(stored))));
      jobs->push_back(std::make_shared<const Value>(std::move(stored)));
    }
    cron->Child("status").Set("lastScheduleTime", Value::String(TimeText(*time)));
  }

  // Applies the concurrency policy to the Jobs that run.
  bool MayStart(const std::vector<ValuePtr>& jobs, const Value& cron) {
    const std::string_view policy = TextAt(cron, {"spec", "concurrencyPolicy"});
    for (const ValuePtr& job : jobs) {
      if (IsOver(*job) || IsTerminating(*job)) continue;
      if (policy == "Forbid") {
        world_->Record(cron, kCronComponent, "", "Normal", "JobAlreadyActive",
                       "Not starting job because prior execution is running and concurrency policy is Forbid");
        return false;
      }
      if (policy == "Replace") Delete(*job, cron);
    }
    return true;
  }

  void Delete(const Value& job, const Value& cron) {
    if (world_->cluster().Delete("Job", NamespaceOf(job), NameOf(job),
                                 {.grace_seconds = {}, .uid = std::string(UidOf(job)), .propagation = "Background"})) {
      return;
    }
    world_->Record(cron, kCronComponent, "", "Normal", "SuccessfulDelete",
                   absl::StrCat("Deleted job ", util::ToAbsl(NameOf(job))));
  }

  void Report(const std::vector<ValuePtr>& jobs, Value* cron) {
    Value active = Value::Array();
    absl::Time last = TimeAt(*cron, {"status", "lastSuccessfulTime"});
    for (const ValuePtr& known : jobs) {
      const Value& job = *known;
      if (IsConditionTrue(job, "Complete")) last = std::max(last, TimeAt(job, {"status", "completionTime"}));
      const ValuePtr now = world_->cluster().Get("Job", NamespaceOf(job), NameOf(job));
      if (now == nullptr || IsOver(*now) || IsTerminating(*now)) continue;
      Value reference = Value::Object();
      reference.Set("kind", Value::String("Job"));
      reference.Set("namespace", Value::String(NamespaceOf(job)));
      reference.Set("name", Value::String(NameOf(job)));
      reference.Set("uid", Value::String(UidOf(job)));
      reference.Set("apiVersion", Value::String("batch/v1"));
      reference.Set("resourceVersion", Value::String(TextAt(*now, {"metadata", "resourceVersion"})));
      active.Append(std::move(reference));
    }
    Value& status = cron->Child("status");
    if (active.empty()) {
      status.Erase("active");
    } else {
      status.Set("active", std::move(active));
    }
    if (last != absl::InfinitePast()) status.Set("lastSuccessfulTime", Value::String(TimeText(last)));
  }

  // Deletes the oldest Jobs that ended so, beyond the limit.
  void Trim(const std::vector<ValuePtr>& jobs, const Value& cron, std::string_view as, std::string_view limit,
            int64_t usual) {
    std::vector<const Value*> over;
    for (const ValuePtr& job : jobs) {
      if (IsConditionTrue(*job, as) && !IsTerminating(*job)) over.push_back(job.get());
    }
    const int64_t many = static_cast<int64_t>(over.size()) - NumberAt(cron, {"spec", limit}, usual);
    for (int64_t i = 0; i < many; ++i) Delete(*over[static_cast<size_t>(i)], cron);
  }

  World* world_;
};

}  // namespace

std::unique_ptr<Actor> NewCronJobController(World* world) {
  return std::make_unique<CronJobs>(world);
}

}  // namespace berth::world::living
