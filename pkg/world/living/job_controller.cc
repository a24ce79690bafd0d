// Jobs (pkg/controller/job, 1.36).
#include <absl/container/node_hash_map.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pkg/world/living/actors.h"
#include "pkg/world/living/job_policy.h"
#include "pkg/world/living/owned_pods.h"
#include "pkg/world/workload.h"

namespace berth::world::living {
namespace {

constexpr char kTracking[] = "batch.kubernetes.io/job-tracking", kComponent[] = "job-controller";
constexpr absl::Duration kFirstWait = absl::Seconds(10), kLongestWait = absl::Minutes(10);
constexpr size_t kMostCreations = 500;
constexpr int64_t kNoLimit = INT64_MAX;

class Jobs final : public Actor {
 public:
  explicit Jobs(World* world) : world_(world) {}

  void OnChange(const Change& c) override {
    if (c.kind == "Job") {
      if (c.gone) {
        failures_.erase(std::string(UidOf(*c.object)));
        histories_.erase(std::string(UidOf(*c.object)));
        return;
      }
      world_->Enqueue(this, {"Job", std::string(NamespaceOf(*c.object)), std::string(NameOf(*c.object))});
    }
    if (c.kind != "Pod") return;
    if (c.before != nullptr && c.before->controller_kind == "Job" && (c.gone || !c.after->is_tracked))
      Forget(*c.before);
    // Whose Job is gone without it, is not counted by anybody.
    if (c.after != nullptr && c.after->is_tracked && c.after->controller_uid.empty()) {
      world_->Enqueue(this, {"Pod", c.after->ns, c.after->name});
    }
    for (const PodFactsPtr& pod : {c.before, c.after}) {
      if (pod == nullptr || pod->controller_kind != "Job") continue;
      world_->Enqueue(this, {"Job", pod->ns, pod->controller_name},
                      CalmFor(world_->PodsOfController(pod->controller_uid).size()));
    }
  }

  void Sync(const ObjectName& what) override {
    if (what.kind == "Pod") return SyncOrphan(what);
    const ValuePtr found = world_->cluster().Get("Job", what.ns, what.name);
    if (found == nullptr) return ReleasePods(what);
    const std::string_view manager = TextAt(*found, {"spec", "managedBy"});
    if (!manager.empty() && manager != "kubernetes.io/job-controller") return;
    if (IsConditionTrue(*found, "Complete") || IsConditionTrue(*found, "Failed")) return AfterEnd(what, *found);
    Value job = *found;
    Look look = CountPods(&job);
    const bool suspended = TrueAt(job, {"spec", "suspend"});
    if (!suspended && TextAt(job, {"status", "startTime"}).empty()) {
      job.Child("status").Set("startTime", Value::String(TimeText(world_->Now())));
    }
    const bool over = Judge(what, look, &job);
    const bool is_sound =
        Selects(found->At({"spec", "selector"}), found->At({"spec", "template", "metadata", "labels"}), false);
    if (!over && !IsTerminating(job) && is_sound) {
      Suspend(suspended, &job);
      Manage(what, suspended, &look, &job);
    }
    Report(&job);
    // A pod's finalizer says that it is not counted yet, so it stays until the status has been written.
    if (WriteStatus(world_, "Job", *found, std::move(job))) return;
    if (world_->rules().job_finalizer) {
      History& history = histories_[std::string(UidOf(*found))];
      for (const PodFactsPtr& pod : look.counted) history.counted.insert(pod->uid);
    }
    for (const PodFactsPtr& pod : look.counted) Release(*pod);
  }

 private:
  struct Look {
    std::vector<PodFactsPtr> active, terminating, counted;
    std::set<int64_t> in_use;  // completion indexes of active pods
    std::string failed_by;     // the rule of podFailurePolicy by which the Job has failed; "" if it has not
  };
  // The end of a pod is seen again when the status that counts it could not be written, and when the pod could not be
  // released afterwards.
  struct History {
    std::set<std::string> noted;    // uids of pods whose end is in the failures
    std::set<std::string> counted;  // uids of pods that the status counts, and that still have their finalizer
  };
  struct Failures {
    int64_t in_a_row = 0;
    absl::Duration wait_until;
    std::map<int64_t, Failures> of_index{};  // where each index has a limit of its own
    void Add(absl::Duration now) {
      ++in_a_row;
      absl::Duration wait = kFirstWait;
      for (int64_t i = 1; i < in_a_row && wait < kLongestWait; ++i) wait *= 2;
      wait_until = now + std::min(wait, kLongestWait);
    }
  };

  static bool IsIndexed(const Value& job) { return TextAt(job, {"spec", "completionMode"}) == "Indexed"; }
  // Returns how often a single index may fail and be tried again; none if only all failures together are counted.
  std::optional<int64_t> LimitPerIndex(const Value& job) const {
    const Value* limit = job.At({"spec", "backoffLimitPerIndex"});
    const bool given = world_->rules().job_index_limits && IsIndexed(job) && limit != nullptr && limit->IsNumber();
    return given ? std::optional(limit->AsInt()) : std::nullopt;
  }

  // Counts the pods that have ended since the last look into the status.
  Look CountPods(Value* job) {
    Look look;
    const bool waits_for_end = TextAt(*job, {"spec", "podReplacementPolicy"}) == "Failed";
    Value& status = job->Child("status");
    int64_t succeeded = NumberAt(status, {"succeeded"}), failed = NumberAt(status, {"failed"});
    if (!world_->rules().job_finalizer) succeeded = failed = 0;
    std::set<int64_t> done = IndexesOf(status.Str("completedIndexes"));
    const Value selector = validation::OrEmpty(std::as_const(*job).At({"spec", "selector"}));
    Failures& failures = failures_[std::string(UidOf(*job))];
    History& history = histories_[std::string(UidOf(*job))];
    for (const PodFactsPtr& p : ClaimPods(world_, *job, &selector)) {
      const bool ended = p->IsFinished();
      if (!ended && !p->terminating) {
        look.active.push_back(p);
        if (p->index >= 0) look.in_use.insert(p->index);
        continue;
      }
      if (!ended) look.terminating.push_back(p);
      if (world_->rules().job_finalizer && !p->is_tracked) continue;
      if (!ended && waits_for_end) continue;
      look.counted.push_back(p);
      if (history.counted.contains(p->uid)) continue;
      const bool is_news = history.noted.insert(p->uid).second;
      if (p->phase == "Succeeded") {
        const bool again = IsIndexed(*job) && p->index >= 0 && !done.insert(p->index).second;
        succeeded += !again;
        if (is_news) failures.in_a_row = 0;
        if (is_news) failures.wait_until = absl::ZeroDuration();
      } else {
        failed += CountFailure(*p, *job, is_news ? &failures : nullptr, &look);
      }
    }
    SetCount("succeeded", succeeded, &status);
    SetCount("failed", failed, &status);
    if (IsIndexed(*job)) SetIndexes("completedIndexes", done, &status);
    if (const auto limit = LimitPerIndex(*job)) {
      std::set<int64_t> given_up = IndexesOf(status.Str("failedIndexes"));
      for (const auto& [index, f] : failures.of_index) {
        if (f.in_a_row > *limit) given_up.insert(index);
      }
      SetIndexes("failedIndexes", given_up, &status);
    }
    return look;
  }

  static void SetIndexes(std::string_view member, const std::set<int64_t>& indexes, Value* status) {
    if (indexes.empty()) {
      status->Erase(member);
    } else {
      status->Set(member, Value::String(TextOfIndexes(indexes)));
    }
  }

  // Returns whether the failure counts in the status. Adds it to the failures unless they are null.
  bool CountFailure(const PodFacts& pod, const Value& job, Failures* failures, Look* look) {
    using Action = FailureVerdict::Action;
    FailureVerdict verdict;
    if (world_->rules().job_failure_policy && job.At({"spec", "podFailurePolicy"}) != nullptr) {
      if (const ValuePtr object = world_->cluster().Get("Pod", pod.ns, pod.name)) verdict = JudgeFailure(job, *object);
    }
    if (verdict.action == Action::kFailJob && look->failed_by.empty()) look->failed_by = verdict.message;
    const auto limit = LimitPerIndex(job);
    const bool of_index = limit && pod.index >= 0;
    if (failures != nullptr && of_index) {
      Failures& own = failures->of_index[pod.index];
      if (verdict.action == Action::kFailIndex) own.in_a_row = *limit;
      if (verdict.action != Action::kIgnore) own.Add(world_->Steady());
    } else if (failures != nullptr) {
      failures->Add(world_->Steady());
    }
    return verdict.action != Action::kIgnore;
  }

  // Decides whether the Job has failed or is complete. Returns whether it is over, or will be when its pods are gone.
  bool Judge(const ObjectName& what, const Look& look, Value* job) {
    const Value& status = job->Child("status");
    const int64_t failed = NumberAt(status, {"failed"});
    std::string reason, message;
    if (const Value* c = ConditionOf(*job, "FailureTarget"); c != nullptr) {
      reason = c->Str("reason");
      message = c->Str("message");
    } else if (!look.failed_by.empty()) {
      reason = "PodFailurePolicy";
      message = look.failed_by;
    } else if (failed > NumberAt(*job, {"spec", "backoffLimit"}, kNoLimit) || RestartedTooOften(look, *job)) {
      reason = "BackoffLimitExceeded";
      message = "Job has reached the specified backoff limit";
    } else if (const int64_t most = NumberAt(*job, {"spec", "activeDeadlineSeconds"}, kNoLimit);
               most != kNoLimit && !TrueAt(*job, {"spec", "suspend"})) {
      const absl::Time end = TimeAt(status, {"startTime"}) + absl::Seconds(most);
      if (end <= world_->Now()) {
        reason = "DeadlineExceeded";
        message = "Job was active longer than specified deadline";
      } else {
        world_->Enqueue(this, what, end - world_->Now());
      }
    }
    if (reason.empty()) JudgeIndexes(look, *job, &reason, &message);
    if (!reason.empty()) return End(what, look, "FailureTarget", "Failed", reason, message, job);
    reason = "CompletionsReached";
    message = "Reached expected number of succeeded pods";
    if (!IsComplete(look, *job, &reason, &message)) return false;
    return End(what, look, "SuccessCriteriaMet", "Complete", reason, message, job);
  }

  // Where containers are restarted in their pods, restarts count as failures do.
  static bool RestartedTooOften(const Look& look, const Value& job) {
    if (TextAt(job, {"spec", "template", "spec", "restartPolicy"}) != "OnFailure") return false;
    int64_t restarts = 0;
    for (const auto* pods : {&look.active, &look.terminating}) {
      for (const PodFactsPtr& p : *pods) restarts += p->restarts;
    }
    const int64_t limit = NumberAt(job, {"spec", "backoffLimit"}, kNoLimit);
    return restarts >= std::max<int64_t>(limit, 1);
  }

  // Where indexes fail by themselves: too many have, or all have ended and some have failed.
  void JudgeIndexes(const Look& look, const Value& job, std::string* reason, std::string* message) const {
    if (!LimitPerIndex(job)) return;
    const auto failed = static_cast<int64_t>(IndexesOf(TextAt(job, {"status", "failedIndexes"})).size());
    if (failed == 0) return;
    if (failed > NumberAt(job, {"spec", "maxFailedIndexes"}, kNoLimit)) {
      *reason = "MaxFailedIndexesExceeded";
      *message = "Job has exceeded the specified maximal number of failed indexes";
    } else if (look.active.empty() &&
               failed + NumberAt(job, {"status", "succeeded"}) >= NumberAt(job, {"spec", "completions"}, kNoLimit)) {
      *reason = "FailedIndexes";
      *message = "Job has failed indexes";
    }
  }

  bool IsComplete(const Look& look, const Value& job, std::string* reason, std::string* message) const {
    if (const Value* c = ConditionOf(job, "SuccessCriteriaMet")) {
      *reason = c->Str("reason");
      *message = c->Str("message");
      return true;
    }
    if (world_->rules().job_success_policy && IsIndexed(job)) {
      if (auto met = MetSuccessRule(job, IndexesOf(TextAt(job, {"status", "completedIndexes"})))) {
        *reason = "SuccessPolicy";
        *message = *std::move(met);
        return true;
      }
    }
    const int64_t succeeded = NumberAt(job, {"status", "succeeded"});
    const Value* completions = job.At({"spec", "completions"});
    if (completions == nullptr || !completions->IsNumber()) return succeeded > 0 && look.active.empty();
    return succeeded >= completions->AsInt();
  }

  // First the condition that the end is decided, and when no pod is left, the end itself.
  bool End(const ObjectName& what, const Look& look, std::string_view decided, std::string_view end,
           const std::string& reason, const std::string& message, Value* job) {
    SetCondition({decided, "True", reason, message}, world_->Now(), job);
    for (const PodFactsPtr& p : look.active) {
      if (!DeletePod(world_, *job, kComponent, *p)) world_->Enqueue(this, what);
    }
    const bool left = !look.active.empty() || std::any_of(look.terminating.begin(), look.terminating.end(),
                                                          [](const PodFactsPtr& p) { return !p->IsFinished(); });
    if (left) return true;
    SetCondition({end, "True", reason, message}, world_->Now(), job);
    Value& status = job->Child("status");
    if (end == "Complete") {
      status.Set("completionTime", Value::String(TimeText(world_->Now())));
      world_->Record(*job, kComponent, "", "Normal", "Completed", "Job completed");
    } else {
      world_->Record(*job, kComponent, "", "Warning", reason, message);
    }
    return true;
  }

  void Suspend(bool suspended, Value* job) {
    const bool was = IsConditionTrue(*job, "Suspended");
    if (suspended == was) return;
    if (suspended) {
      SetCondition({"Suspended", "True", "JobSuspended", "Job suspended"}, world_->Now(), job);
      job->Child("status").Erase("startTime");
      world_->Record(*job, kComponent, "", "Normal", "Suspended", "Job suspended");
    } else {
      SetCondition({"Suspended", "False", "JobResumed", "Job resumed"}, world_->Now(), job);
      world_->Record(*job, kComponent, "", "Normal", "Resumed", "Job resumed");
    }
  }

  void Manage(const ObjectName& what, bool suspended, Look* look, Value* job) {
    const auto active = static_cast<int64_t>(look->active.size());
    const int64_t parallelism = NumberAt(*job, {"spec", "parallelism"}, 1);
    const int64_t succeeded = NumberAt(*job, {"status", "succeeded"});
    const Value* completions = std::as_const(*job).At({"spec", "completions"});
    const auto given_up = static_cast<int64_t>(IndexesOf(TextAt(*job, {"status", "failedIndexes"})).size());
    int64_t wanted = completions != nullptr && completions->IsNumber()
                         ? std::min(parallelism, completions->AsInt() - succeeded - given_up)
                     : succeeded > 0 ? active
                                     : parallelism;
    if (suspended) wanted = 0;
    if (active > wanted) {
      std::vector<PodFactsPtr> pods = look->active;
      std::sort(pods.begin(), pods.end(), [](const PodFactsPtr& a, const PodFactsPtr& b) {
        return std::tuple(a->ready, b->created, a->uid) < std::tuple(b->ready, a->created, b->uid);
      });
      for (int64_t i = 0; i < active - wanted; ++i) {
        const PodFactsPtr& p = pods[static_cast<size_t>(i)];
        if (DeletePod(world_, *job, kComponent, *p)) continue;
        // What the Job itself deletes is no failure.
        Release(*p);
        std::erase(look->active, p);
      }
      return;
    }
    int64_t more = wanted - active;
    if (TextAt(*job, {"spec", "podReplacementPolicy"}) == "Failed") {
      more -= static_cast<int64_t>(look->terminating.size());
    }
    if (more <= 0) return;
    const Failures& failures = failures_[std::string(UidOf(*job))];
    if (failures.wait_until > world_->Steady()) {
      world_->Enqueue(this, what, failures.wait_until - world_->Steady());
      return;
    }
    Create(what, std::min<int64_t>(more, kMostCreations), *look, *job);
    if (more > static_cast<int64_t>(kMostCreations)) world_->Enqueue(this, what);
  }

  void Create(const ObjectName& what, int64_t count, const Look& look, const Value& job) {
    std::set<int64_t> taken = look.in_use;
    const auto limit = LimitPerIndex(job);
    const Failures& failures = failures_[std::string(UidOf(job))];
    if (IsIndexed(job)) {
      for (std::string_view member : {"completedIndexes", "failedIndexes"}) {
        taken.merge(IndexesOf(TextAt(job, {"status", member})));
      }
      for (const auto& [index, f] : failures.of_index) {
        if (f.wait_until <= world_->Steady() || !taken.insert(index).second) continue;
        world_->Enqueue(this, what, f.wait_until - world_->Steady());
      }
    }
    int64_t index = 0;
    for (int64_t i = 0; i < count; ++i) {
      std::optional<int64_t> number;
      if (IsIndexed(job)) {
        while (taken.contains(index)) ++index;
        if (index >= NumberAt(job, {"spec", "completions"})) return;
        number = index++;
      }
      Value pod = PodOf("Job", job, number, world_->rules());
      if (limit) {
        auto it = failures.of_index.find(*number);
        pod.Child("metadata")
            .Child("annotations")
            .Set("batch.kubernetes.io/job-index-failure-count",
                 Value::String(absl::StrCat(it == failures.of_index.end() ? 0 : it->second.in_a_row)));
      }
      if (CreatePod(world_, job, kComponent, std::move(pod))) {
        world_->EnqueueTry(this, what, absl::Seconds(1));
        return;
      }
    }
  }

  void Report(Value* job) const {
    // What has just been made or deleted is counted when its change has been told.
    int64_t active = 0, ready = 0, terminating = 0;
    for (const auto& [uid, p] : world_->PodsOfController(UidOf(*job))) {
      if (p->IsFinished()) continue;
      active += !p->terminating;
      terminating += p->terminating;
      ready += p->ready && !p->terminating;
    }
    Value& status = job->Child("status");
    SetCount("active", active, &status);
    status.SetAll({{"ready", ready}, {"terminating", terminating}});
  }

  void Release(const PodFacts& pod) {
    const ValuePtr found = world_->cluster().Get("Pod", pod.ns, pod.name);
    if (found == nullptr || UidOf(*found) != pod.uid) return;
    Value v = *found;
    if (RemoveFinalizer(&v, kTracking)) world_->cluster().UpdateStatus("Pod", std::move(v));
  }
  void SyncOrphan(const ObjectName& what) {
    const PodFactsPtr pod = world_->Pod(what.ns, what.name);
    if (pod != nullptr && pod->is_tracked && pod->controller_uid.empty()) Release(*pod);
  }
  // The Job is gone: nobody else would take the finalizers off.
  void ReleasePods(const ObjectName& what) {
    std::vector<PodFactsPtr> pods;
    for (const auto& [uid, p] : world_->PodsIn(what.ns)) {
      if (p->is_tracked && p->controller_kind == "Job" && p->controller_name == what.name) pods.push_back(p);
    }
    for (const PodFactsPtr& p : pods) Release(*p);
  }

  void AfterEnd(const ObjectName& what, const Value& job) {
    std::vector<PodFactsPtr> pods;
    for (const auto& [uid, p] : world_->PodsOfController(UidOf(job))) {
      if (p->is_tracked) pods.push_back(p);
    }
    for (const PodFactsPtr& p : pods) Release(*p);
    const int64_t ttl = NumberAt(job, {"spec", "ttlSecondsAfterFinished"}, -1);
    if (ttl < 0 || IsTerminating(job)) return;
    const Value* end = ConditionOf(job, IsConditionTrue(job, "Complete") ? "Complete" : "Failed");
    const absl::Time at = TimeAt(*end, {"lastTransitionTime"}) + absl::Seconds(ttl);
    if (at > world_->Now()) {
      world_->Enqueue(this, what, at - world_->Now());
      return;
    }
    world_->cluster().Delete("Job", what.ns, what.name,
                             {.grace_seconds = {}, .uid = std::string(UidOf(job)), .propagation = "Foreground"});
  }

  void Forget(const PodFacts& pod) {
    auto it = histories_.find(pod.controller_uid);
    if (it == histories_.end()) return;
    it->second.noted.erase(pod.uid);
    it->second.counted.erase(pod.uid);
  }

  World* world_;
  absl::flat_hash_map<std::string, Failures> failures_;  // by uid
  absl::node_hash_map<std::string, History> histories_;  // by uid; references stay good while others are added
};

}  // namespace

std::unique_ptr<Actor> NewJobController(World* world) {
  return std::make_unique<Jobs>(world);
}

}  // namespace berth::world::living
