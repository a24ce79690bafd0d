// CronJobs (pkg/controller/cronjob, 1.36).
#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
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

// What is asked about a Job, as it was at some time.
struct JobFacts {
  std::string ns, name, uid, cron_uid, created, version;
  bool complete = false, failed = false, terminating = false;
  absl::Time completed;
  bool IsOver() const { return complete || failed; }
};
using JobFactsPtr = std::shared_ptr<const JobFacts>;

// `owner`: the controller among the Job's owners.
JobFactsPtr FactsOfJob(const Value& job, const Value& owner) {
  auto f = std::make_shared<JobFacts>();
  f->ns = NamespaceOf(job);
  f->name = NameOf(job);
  f->uid = UidOf(job);
  f->cron_uid = owner.Str("uid");
  f->created = TextAt(job, {"metadata", "creationTimestamp"});
  f->version = TextAt(job, {"metadata", "resourceVersion"});
  f->complete = IsConditionTrue(job, "Complete");
  f->failed = IsConditionTrue(job, "Failed");
  f->terminating = IsTerminating(job);
  f->completed = TimeAt(job, {"status", "completionTime"});
  return f;
}

class CronJobs final : public Actor {
 public:
  explicit CronJobs(World* world) : world_(world) {}

  void OnChange(const Change& c) override {
    if (c.kind == "CronJob") {
      if (c.gone) {
        plans_.erase(std::string(UidOf(*c.object)));
      } else {
        Look(NamespaceOf(*c.object), NameOf(*c.object));
      }
    }
    if (c.kind != "Job") return;
    const Value* owner = ControllerOf(*c.object);
    if (owner != nullptr && owner->Str("kind") != "CronJob") owner = nullptr;
    Note(*c.object, c.gone ? nullptr : owner);
    if (owner != nullptr) Look(NamespaceOf(*c.object), owner->Str("name"));
  }

  void Sync(const ObjectName& what) override {
    const ValuePtr found = world_->cluster().Get("CronJob", what.ns, what.name);
    if (found == nullptr || IsTerminating(*found)) return;
    Value cron = *found;
    // As they are now: what is decided below changes them.
    std::vector<JobFactsPtr> jobs;
    if (const auto known = jobs_.find(util::ToAbsl(UidOf(cron))); known != jobs_.end()) {
      for (const auto& [order, job] : known->second) {
        if (job->ns == what.ns) jobs.push_back(job);
      }
    }
    Start(what, &jobs, &cron);
    Report(jobs, &cron);
    WriteStatus(world_, "CronJob", *found, std::move(cron));
    Trim(jobs, *found, &JobFacts::complete, "successfulJobsHistoryLimit", 3);
    Trim(jobs, *found, &JobFacts::failed, "failedJobsHistoryLimit", 1);
  }

 private:
  // The schedule of a CronJob, and what was last found out of it.
  struct Plan {
    Value spec;  // that it was read from
    absl::StatusOr<Schedule> schedule = Schedule();
    absl::TimeZone zone;
    bool zone_is_known = true;
    absl::Time since = absl::InfinitePast(), next;  // `next` is the first time after `since`
  };

  void Look(std::string_view ns, std::string_view name) {
    world_->Enqueue(this, {"CronJob", std::string(ns), std::string(name)});
  }

  // `owner`: the CronJob that the Job belongs to; null: it is gone, or belongs to none.
  void Note(const Value& job, const Value* owner) {
    const std::pair<std::string, std::string> key(NamespaceOf(job), NameOf(job));
    if (const auto known = by_name_.find(key); known != by_name_.end()) {
      const JobFacts& was = *known->second;
      const auto of_cron = jobs_.find(was.cron_uid);
      of_cron->second.erase({was.created, was.name, was.ns});
      if (of_cron->second.empty()) jobs_.erase(of_cron);
      by_name_.erase(known);
    }
    if (owner == nullptr) return;
    JobFactsPtr facts = FactsOfJob(job, *owner);
    jobs_[facts->cron_uid][{facts->created, facts->name, facts->ns}] = facts;
    by_name_[key] = std::move(facts);
  }

  // Returns the facts of a Job as it is now; null if there is none.
  JobFactsPtr Now(const std::string& ns, const std::string& name) const {
    const auto known = by_name_.find(std::pair(ns, name));
    if (known != by_name_.end()) return known->second;
    const ValuePtr other = world_->cluster().Get("Job", ns, name);
    return other == nullptr ? nullptr : FactsOfJob(*other, Value());
  }

  Plan& PlanOf(const Value& cron) {
    Plan& plan = plans_[std::string(UidOf(cron))];
    const Value& spec = validation::OrEmpty(cron.Find("spec"));
    if (!plan.spec.IsNull() && plan.spec == spec) return plan;
    plan = Plan();
    plan.spec = spec;
    plan.schedule = Schedule::Parse(spec.Str("schedule"));
    plan.zone = absl::UTCTimeZone();
    const std::string_view zone = spec.Str("timeZone");
    plan.zone_is_known = zone.empty() || absl::LoadTimeZone(util::ToAbsl(zone), &plan.zone);
    return plan;
  }

  // Returns the latest time of the schedule that has come since then, and comes back at the next one.
  std::optional<absl::Time> TimeThatHasCome(const ObjectName& what, absl::Time since, Plan* plan) {
    const absl::Time now = world_->Now();
    if (plan->since == since && now < plan->next) {
      world_->Enqueue(this, what, plan->next - now);
      return std::nullopt;
    }
    const auto time = plan->schedule->LastBetween(since, now, plan->zone);
    auto next = plan->schedule->Next(time.value_or(since), plan->zone);
    if (next && *next > now) {
      // The time will be noted as the last one.
      plan->since = time.value_or(since);
      plan->next = *next;
    } else if (next) {
      next = plan->schedule->Next(now, plan->zone);
    }
    if (next) world_->Enqueue(this, what, *next - now);
    return time;
  }

  // Makes the Job of the latest time that has come, and comes back at the next one.
  void Start(const ObjectName& what, std::vector<JobFactsPtr>* jobs, Value* cron) {
    if (TrueAt(std::as_const(*cron), {"spec", "suspend"})) return;
    Plan& plan = PlanOf(*cron);
    if (!plan.schedule.ok() || !plan.zone_is_known) {
      world_->Record(
          *cron, kCronComponent, "", "Warning", plan.schedule.ok() ? "UnknownTimeZone" : "UnparseableSchedule",
          plan.schedule.ok() ? absl::StrCat("invalid timeZone: \"", util::ToAbsl(plan.spec.Str("timeZone")), "\"")
                             : absl::StrCat("unparseable schedule: ", util::Message(plan.schedule.status())));
      return;
    }
    const absl::Time since =
        std::max(TimeAt(*cron, {"status", "lastScheduleTime"}), TimeAt(*cron, {"metadata", "creationTimestamp"}));
    const auto time = TimeThatHasCome(what, since, &plan);
    const int64_t late = NumberAt(*cron, {"spec", "startingDeadlineSeconds"}, -1);
    if (!time || (late >= 0 && *time <= world_->Now() - absl::Seconds(late))) return;
    const absl::TimeZone zone = plan.zone;
    Value job = JobOfCronJob(*cron, absl::ToUnixSeconds(*time), world_->rules());
    // The Job of this time may be there, and the status that says so could not be written.
    const auto is_it = [&](const JobFactsPtr& other) { return other->name == NameOf(job); };
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
      jobs->push_back(FactsOfJob(stored, validation::OrEmpty(ControllerOf(stored))));
    }
    cron->Child("status").Set("lastScheduleTime", Value::String(TimeText(*time)));
  }

  // Applies the concurrency policy to the Jobs that run.
  bool MayStart(const std::vector<JobFactsPtr>& jobs, const Value& cron) {
    const std::string_view policy = TextAt(cron, {"spec", "concurrencyPolicy"});
    for (const JobFactsPtr& job : jobs) {
      if (job->IsOver() || job->terminating) continue;
      if (policy == "Forbid") {
        world_->Record(cron, kCronComponent, "", "Normal", "JobAlreadyActive",
                       "Not starting job because prior execution is running and concurrency policy is Forbid");
        return false;
      }
      if (policy == "Replace") Delete(*job, cron);
    }
    return true;
  }

  void Delete(const JobFacts& job, const Value& cron) {
    if (world_->cluster().Delete("Job", job.ns, job.name,
                                 {.grace_seconds = {}, .uid = job.uid, .propagation = "Background"})) {
      return;
    }
    world_->Record(cron, kCronComponent, "", "Normal", "SuccessfulDelete", absl::StrCat("Deleted job ", job.name));
  }

  void Report(const std::vector<JobFactsPtr>& jobs, Value* cron) {
    Value active = Value::Array();
    absl::Time last = TimeAt(*cron, {"status", "lastSuccessfulTime"});
    for (const JobFactsPtr& job : jobs) {
      if (job->complete) last = std::max(last, job->completed);
      const JobFactsPtr now = Now(job->ns, job->name);
      if (now == nullptr || now->IsOver() || now->terminating) continue;
      Value reference = Value::Object({{"kind", "Job"},
                                       {"namespace", job->ns},
                                       {"name", job->name},
                                       {"uid", job->uid},
                                       {"apiVersion", "batch/v1"},
                                       {"resourceVersion", now->version}});
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
  void Trim(const std::vector<JobFactsPtr>& jobs, const Value& cron, bool JobFacts::*as, std::string_view limit,
            int64_t usual) {
    std::vector<const JobFacts*> over;
    for (const JobFactsPtr& job : jobs) {
      if ((*job).*as && !job->terminating) over.push_back(job.get());
    }
    const int64_t many = static_cast<int64_t>(over.size()) - NumberAt(cron, {"spec", limit}, usual);
    for (int64_t i = 0; i < many; ++i) Delete(*over[static_cast<size_t>(i)], cron);
  }

  World* world_;
  // The Jobs of CronJobs by their owner's uid, in the order of their making, and by namespace and name.
  using Order = std::tuple<std::string, std::string, std::string>;  // time, name, namespace
  absl::flat_hash_map<std::string, absl::btree_map<Order, JobFactsPtr>> jobs_;
  absl::flat_hash_map<std::pair<std::string, std::string>, JobFactsPtr> by_name_;
  absl::flat_hash_map<std::string, Plan> plans_;  // by uid
};

}  // namespace

std::unique_ptr<Actor> NewCronJobController(World* world) {
  return std::make_unique<CronJobs>(world);
}

}  // namespace berth::world::living
