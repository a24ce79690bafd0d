// One attempt for one pod: decide, assume, reserve volumes, bind, and find out the outcome of the bind.
//
//   ScheduleOne --> Decide --> AssumePod --> ReserveVolumes --> Bind --> BindAnswered --> Bound
//                     |           |              |                            |
//                     v           v              v                            v
//                 NotPlaced      Fail    ReservationFailed               BindFailed
//
// A bind whose answer was lost may still be executed later. BindAnswered then leaves the pod in kBindUnknown, where it
// is read until its outcome is certain. It keeps its resources on the node meanwhile, so that no node can get more pods
// than it has room for, and no bind to another node is sent.
#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <algorithm>

#include "pkg/scheduler/scheduler_internal.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

bool UsesClaims(const api::Pod& pod) {
  return std::any_of(pod.tmpl->volumes.begin(), pod.tmpl->volumes.end(),
                     [](const api::Volume& v) { return v.kind == api::Volume::Kind::kClaim; });
}

// Returns the extender that binds this pod, or null when the API server does.
Extender* BinderFor(const GenericScheduler& s, const api::Pod& pod) {
  for (const auto& e : s.config().extenders) {
    if (e->IsBinder()) return e->IsInterested(pod) ? e.get() : nullptr;
  }
  return nullptr;
}

// An API server ends a request after a minute, so a request that is older than this has no effect any more.
constexpr absl::Duration kRequestLifetime = absl::Seconds(61);

// The longest wait before the next attempt to find out the outcome of a bind. It is short because the pod takes up
// resources of its node meanwhile.
constexpr absl::Duration kMaxBindRetry = absl::Seconds(5);

}  // namespace

SchedulerLog::Failure WhyFailed(const Decision& d) {
  if (d.outcome == Decision::Outcome::kNoNodes) return SchedulerLog::Failure::kNoNodes;
  return d.outcome == Decision::Outcome::kUnfit ? SchedulerLog::Failure::kUnfit : SchedulerLog::Failure::kError;
}

// Decides about a pod. Which decisions are made both ways follows from counting and not from chance, so that a run can
// be repeated from its inputs.
Decision Scheduler::Decide(const api::PodPtr& pod, GenericScheduler& algorithm) {
  algorithm.set_cycle(++decisions_);
  checks_due_ += options_.check_decisions;
  if (checks_due_ < 1) return algorithm.Schedule(pod);
  checks_due_ -= 1;
  Decision d = algorithm.Schedule(pod, DecisionMode::kBoth);
  ++metrics_.checked_decisions;
  if (!d.difference.empty()) {
    ++metrics_.decision_differences;
    LineAbout("Two ways to decide about a pod differ. The decision of the reference scheduler is carried out", *pod)
        .Error(d.difference);
  }
  return d;
}

bool Scheduler::ScheduleOne() {
  if (stopped_ || Saturated()) return false;
  if (options_.may_bind && !options_.may_bind()) return false;
  api::PodPtr pod = queue_->Pop();
  if (pod == nullptr) return false;
  now_ = clock_->Steady();
  Pending* found = Find(*pod);
  if (found == nullptr || found->place != Place::kQueued) {
    LOG(DFATAL) << "pod " << Name(*pod) << " came out of the queue and is not known as queued";
    return true;
  }
  Pending& p = *found;
  p.pod = pod;
  p.cycle = queue_->cycle();
  p.changed = false;
  p.retry_wait = absl::ZeroDuration();
  ++p.attempts;

  if (pod->meta.deleting()) {
    SkipDeleting(p);
    return true;
  }

  if (SetAsideUnsupported(p)) return true;

  log_.Attempting(*pod);
  auto attempt = std::make_unique<Attempt>();
  attempt->begun = now_;
  GenericScheduler& algorithm = *profiles_.find(pod->tmpl->scheduler_name)->second;
  Decision d = Decide(pod, algorithm);
  now_ = clock_->Steady();
  if (options_.observer != nullptr) options_.observer->Decided(pod, d, algorithm.last_node_index());
  ObserveDecision(*pod, d, algorithm.timing());
  if (d.outcome != Decision::Outcome::kPlaced) {
    NotPlaced(p, std::move(attempt), d);
    return true;
  }

  metrics_.algorithm.Observe(now_ - attempt->begun);
  metrics_.predicates.Observe(algorithm.timing().predicates);
  metrics_.priorities.Observe(algorithm.timing().priorities);
  SetReasons(p, {});
  auto assumed = std::make_shared<api::Pod>(*pod);
  assumed->node_name = d.host;
  attempt->assumed = assumed;
  attempt->nodes = {d.nodes, d.feasible};
  p.attempt = std::move(attempt);
  if (volume_binder_ != nullptr && UsesClaims(*pod) && !AssumeVolumes(p, assumed)) return true;
  if (auto s = cache_->AssumePod(assumed); !s.ok()) {
    ++metrics_.errors;
    const std::string err(s.message());
    if (!process_.requeues_at_once) log_.AttemptFailed(*pod, SchedulerLog::Failure::kError, err);
    p.attempt.reset();
    Fail(p, {.event = absl::StrCat("AssumePod failed: ", err), .reason = "SchedulerError", .message = err});
    return true;
  }
  ++metrics_.scheduled;
  if (ReserveVolumes(p)) StartBind(p);
  return true;
}

// Begins to bind the pod. REQUIRES: the pod is assumed and its volumes are ready.
void Scheduler::StartBind(Pending& p) {
  ++binds_in_flight_;
  SetPlace(p, Place::kBinding);
  p.attempt->bind_begun = now_;
  if (p.attempt->volumes_begun) {
    ObserveStage(*p.pod, Stage::kPreBind, StageStatus::kSuccess, now_ - *p.attempt->volumes_begun);
  }
  Bind(p);
}

// Handles a decision that found no node or ended with an error.
void Scheduler::NotPlaced(Pending& p, std::unique_ptr<Attempt> attempt, const Decision& d) {
  const bool unfit = d.outcome == Decision::Outcome::kUnfit;
  ++(unfit ? metrics_.unschedulable : metrics_.errors);
  CountAttempt(*p.pod, unfit ? AttemptResult::kUnschedulable : AttemptResult::kError, now_ - attempt->begun);
  if (!process_.requeues_at_once) {
    VLOG(1) << "Failed to schedule pod: " << Name(*p.pod) << ": " << d.error;
    log_.AttemptFailed(*p.pod, WhyFailed(d), d.error);
  }
  SetReasons(p, d.failures != nullptr ? DistinctReasons(*d.failures)
                                      : std::vector{d.nodes == 0 ? NoNodesReason() : ErrorReason()});
  if (process_.requeues_at_once) {
    p.why = d.nodes == 0 || unfit ? Requeue::kUnschedulable : Requeue::kRetry;
    return Reject(p, d);
  }
  if (unfit && p.pod->tmpl->never_preempts) {
    VLOG(3) << "Pod " << Name(*p.pod) << " does not preempt: its preemptionPolicy is Never";
  } else if (unfit) {
    if (options_.pod_priority && options_.preempts) {
      attempt->failures = d.failures;
      p.attempt = std::move(attempt);
    } else {
      ++metrics_.preemption_attempts;
      metrics_.preemption.Observe(clock_->Steady() - now_);
      VLOG(3) << "Pod priority feature is not enabled. No preemption is performed.";
    }
  }
  Fail(p, {.event = d.error,
           .reason = "Unschedulable",
           .message = d.error,
           .why = d.nodes == 0 || unfit ? Requeue::kUnschedulable : Requeue::kRetry});
}

bool Scheduler::SetAsideUnsupported(Pending& p) {
  const PodFieldSet blocking = BlockingFieldsOf(p);
  if (blocking.none()) return false;
  ++metrics_.unschedulable;
  SetReasons(p, {FailureReasonNamed("unknown field")});
  p.unsupported = true;
  const std::string why = BlockedText(blocking);
  Fail(p, {.event = why, .reason = "Unschedulable", .message = why, .why = Requeue::kUnschedulable});
  return true;
}

void Scheduler::CountAttempt(const api::Pod& pod, AttemptResult result, absl::Duration took) {
  metrics_.by_profile[pod.tmpl->scheduler_name.string()].attempts[static_cast<size_t>(result)].Observe(took);
}

void Scheduler::ObserveStage(const api::Pod& pod, Stage stage, StageStatus status, absl::Duration took) {
  if (!process_.observes_stages) return;
  const auto at = static_cast<size_t>(stage), how = static_cast<size_t>(status);
  metrics_.by_profile[pod.tmpl->scheduler_name.string()].stages[at][how].Observe(took);
  if (stage != Stage::kFilter && stage != Stage::kScore) {
    metrics_.plugins[at][how].Observe(absl::ToDoubleSeconds(took));
  }
}

void Scheduler::ObserveDecision(const api::Pod& pod, const Decision& d, const GenericScheduler::Timing& timing) {
  const bool placed = d.outcome == Decision::Outcome::kPlaced;
  const bool unfit = d.outcome == Decision::Outcome::kUnfit;
  ObserveStage(pod, Stage::kFilter,
               placed  ? StageStatus::kSuccess
               : unfit ? StageStatus::kUnschedulable
                       : StageStatus::kError,
               timing.predicates);
  if (placed && d.feasible > 1) ObserveStage(pod, Stage::kScore, StageStatus::kSuccess, timing.priorities);
}

// A terminating pod is not tried; it stays in kDeleting until it is gone (1.10: skip schedule deleting pod).
void Scheduler::SkipDeleting(Pending& p) {
  actions_->RecordEvent(p.pod, EventType::kWarning, "FailedScheduling",
                        absl::StrCat("skip schedule deleting pod: ", Name(*p.pod)));
  log_.SkippedDeleting(*p.pod);
  SetReasons(p, {});
  SetPlace(p, Place::kDeleting);
}

// ---- bind ---------------------------------------------------------------------------------------

void Scheduler::Bind(Pending& p) {
  const api::PodPtr& assumed = p.attempt->assumed;
  log_.Binding(*assumed);
  Extender* binder = BinderFor(*profiles_.find(assumed->tmpl->scheduler_name)->second, *assumed);
  p.attempt->by_extender = binder != nullptr;
  actions_->Bind(Ask(Asked::kBind, &p), assumed, binder);
}

// Handles the answer to a bind. After an error that leaves it open whether the bind was executed, and after any error
// once an earlier answer was lost, the pod is read; only then is anything concluded or written.
void Scheduler::BindAnswered(Pending& p, const Answer& a) {
  if (a.ok()) return Bound(p);
  if (p.gone) {
    if (VLOG_IS_ON(2)) LineAbout("A pod was deleted while it was being bound", *p.pod).Add("err", a.message).Info(2);
    return BindFailed(p, a);
  }
  const bool may_be_done = a.kind == Answer::Kind::kServerError || a.kind == Answer::Kind::kLost ||
                           (a.kind == Answer::Kind::kConflict && process_.reads_pod_after_conflict);
  if (may_be_done || p.attempt->lost_at) {
    ++metrics_.binds_unknown;
    LineAbout("The outcome of binding a pod is unknown. Asking the API server where the pod is", *p.pod)
        .Add("node", p.attempt->assumed->node_name.str())
        .Warning(a.message);
    p.attempt->bind_answer = a;
    if (a.kind == Answer::Kind::kLost) p.attempt->lost_at = now_;
    SetPlace(p, Place::kBindUnknown);
    if (p.confirmed) {
      const api::PodPtr shown = cache_->GetPod(p.pod->meta.uid);
      return BindOutcome(p, {}, shown != nullptr ? shown : p.attempt->assumed);
    }
    return AskBindOutcome(p);
  }
  BindFailed(p, a);
}

void Scheduler::AskBindOutcome(Pending& p) {
  actions_->GetPod(Ask(Asked::kBindOutcome, &p), *p.pod);
}

// Handles the pod as it was read (or as the watch has shown it) after a bind with an unknown outcome.
void Scheduler::BindOutcome(Pending& p, const Answer& a, const api::PodPtr& fresh) {
  CancelRequest(p);
  StopWaiting(p);
  if (a.kind == Answer::Kind::kNotFound || (a.ok() && fresh->meta.uid != p.pod->meta.uid)) {
    p.gone = true;
    return BindFailed(p, p.attempt->bind_answer);
  }
  if (!a.ok()) {
    Wait(p, now_ + std::min(NextRetry(p), kMaxBindRetry));
    return;
  }
  p.retry_wait = absl::ZeroDuration();
  if (fresh->node_name == p.attempt->assumed->node_name) return Bound(p);
  if (!fresh->node_name.empty()) {
    p.confirmed = true;  // another scheduler has bound it to another node
    return BindFailed(p, p.attempt->bind_answer);
  }
  // The pod has no node yet, but a lost request may still arrive as long as an API server may work on it. Sending the
  // same bind again does no harm: the one that comes second is refused, and both name the node where the pod counts.
  const auto& lost_at = p.attempt->lost_at;
  const bool settled =
      !lost_at || (now_ - *lost_at > kRequestLifetime && p.attempt->bind_answer.kind != Answer::Kind::kLost);
  if (settled) return BindFailed(p, p.attempt->bind_answer);
  SetPlace(p, Place::kBinding);
  const int resends = p.attempt->resends++;
  if (resends == 0) return Bind(p);
  Wait(p, now_ + std::min(absl::Milliseconds(100) * (1 << std::min(resends, 10)), kMaxBindRetry));
}

// Ends an attempt whose bind was executed. The pod stays assumed and pending (kBound) until the watch shows its node.
void Scheduler::Bound(Pending& p) {
  --binds_in_flight_;
  const Attempt& t = *p.attempt;
  cache_->FinishBinding(*t.assumed, now_);
  metrics_.binding.Observe(now_ - t.bind_begun);
  if (!t.by_extender) ObserveStage(*p.pod, Stage::kBind, StageStatus::kSuccess, now_ - t.bind_begun);
  metrics_.e2e.Observe(now_ - t.begun);
  ++metrics_.bound;
  CountAttempt(*p.pod, AttemptResult::kScheduled, now_ - t.begun);
  metrics_.attempts_to_bind.Observe(int64_t{p.attempts});
  metrics_.waits[std::min<size_t>(std::max<uint32_t>(p.attempts, 1), metrics_.waits.size()) - 1].Observe(now_ -
                                                                                                         p.since);
  log_.Bound(*t.assumed, t.nodes);
  actions_->RecordEvent(t.assumed, EventType::kNormal, "Scheduled", process_.scheduled_note(*t.assumed));
  SetPlace(p, Place::kBound);
  // If the watch has shown the pod with a node already, it is no longer pending.
  if (p.confirmed || p.gone || !cache_->IsAssumed(p.pod->meta.uid)) {
    Erase(p);
  } else {
    p.attempt.reset();
  }
}

// `a` is passed by value because it may be the attempt's bind_answer, and the attempt ends here.
void Scheduler::BindFailed(Pending& p, Answer a) {
  --binds_in_flight_;
  ++metrics_.bind_failures;
  CountAttempt(*p.pod, AttemptResult::kError, now_ - p.attempt->begun);
  if (!p.attempt->by_extender) {
    ObserveStage(*p.pod, Stage::kBind, StageStatus::kError, now_ - p.attempt->bind_begun);
  }
  const api::PodPtr assumed = p.attempt->assumed;
  metrics_.e2e.Observe(now_ - p.attempt->begun);
  SetPlace(p, Place::kWritingStatus);
  cache_->FinishBinding(*assumed, now_);
  const bool not_found = a.kind == Answer::Kind::kNotFound;
  if (cache_->IsAssumed(assumed->meta.uid)) {
    if (auto s = cache_->ForgetPod(*assumed); !s.ok()) log_.CacheFailed("ForgetPod", *assumed, util::Message(s));
    Happened(ClusterEvent::Kind::kAssignedPodDelete, assumed.get());  // other pods may fit the node now
  }
  if (p.gone) {
    log_.GoneMeanwhile(*p.pod);
    return Erase(p);
  }
  log_.BindFailed(*assumed, not_found ? SchedulerLog::Failure::kNotFound : SchedulerLog::Failure::kError, a.message);
  if (not_found && a.details_kind == "node") {
    const Symbol node = assumed->node_name;
    actions_->GetNode(Ask(Asked::kNode, nullptr, node.string()), node);
  }
  const bool bare = p.attempt->by_extender && process_.extender_bind_error_is_bare;
  const std::string note = bare ? a.message : process_.bind_failed_note(a.message);
  p.attempt.reset();
  if (p.confirmed) {
    const api::PodPtr shown = cache_->GetPod(p.pod->meta.uid);
    log_.BoundAlready(*p.pod, shown != nullptr ? shown->node_name.str() : "");
    actions_->RecordEvent(assumed, EventType::kWarning, "FailedScheduling", note);
    return Erase(p);
  }
  Fail(p, {.event = note,
           .reason = process_.bind_failed_reason,
           .message = process_.condition_has_bind_error ? note : std::string(),
           .not_found = not_found});
}

// ---- volumes ------------------------------------------------------------------------------------
// Release 1.10: volumes are written one after another before the pod is assumed. Then the attempt ends, and the pod is
// tried again when its claims are bound.

// Returns true when all claims are bound already, so that the pod can be assumed and bound now.
bool Scheduler::AssumeVolumes(Pending& p, const api::PodPtr& assumed) {
  const Row row = cache_->FindRow(assumed->node_name);
  VolumeBinder::Assumed v = volume_binder_->AssumePodVolumes(*assumed, *cache_->row(row).node);
  if (!v.error.empty()) {
    ++metrics_.errors;
    log_.AttemptFailed(*assumed, SchedulerLog::Failure::kError, v.error);
    p.attempt.reset();
    Fail(p,
         {.event = absl::StrCat("AssumePodVolumes failed: ", v.error), .reason = "SchedulerError", .message = v.error});
    return false;
  }
  if (v.all_bound) return true;
  p.attempt->volumes = std::move(v.to_write);
  SetPlace(p, Place::kWritingVolumes);
  WriteNextVolume(p);
  return false;
}

// Writes the next volume. After the last one the attempt ends as failed. The pod is tried again after its back-off, or
// as soon as the volume controller has bound its claims.
void Scheduler::WriteNextVolume(Pending& p) {
  Attempt& t = *p.attempt;
  if (t.next_volume < t.volumes.size()) {
    actions_->UpdateVolume(Ask(Asked::kVolume, &p), t.volumes[t.next_volume]);
    return;
  }
  p.attempt.reset();
  Fail(p, {.event_type = EventType::kNormal,
           .event = "Volume binding started, waiting for completion",
           .reason = "VolumeBindingWaiting"});
}

void Scheduler::VolumeWritten(Pending& p, const Answer& a) {
  Attempt& t = *p.attempt;
  if (a.ok()) {
    ++t.next_volume;
    return WriteNextVolume(p);
  }
  log_.VolumesFailed(*p.attempt->assumed, a.message);
  t.volumes.erase(t.volumes.begin(), t.volumes.begin() + static_cast<std::ptrdiff_t>(t.next_volume));
  volume_binder_->Forget(t.volumes);
  p.attempt.reset();
  Fail(p, {.event = a.message, .reason = "VolumeBindingFailed"});
}

// ---- when the watch and the cache disagree -------------------------------------------------------

// Reads the pod, which is kVerifying, to find out whether it has a node.
void Scheduler::Verify(Pending& p) {
  actions_->GetPod(Ask(Asked::kVerify, &p), *p.pod);
}

// Makes the cache agree with the pod as it was read: it has a node, or it is pending again, or it is gone.
void Scheduler::Verified(Pending& p, const Answer& a, const api::PodPtr& fresh) {
  const bool gone = a.kind == Answer::Kind::kNotFound || (a.ok() && fresh->meta.uid != p.pod->meta.uid) ||
                    (a.ok() && fresh->Finished());
  if (!a.ok() && !gone) {
    LineAbout("Cannot find out where a pod is. Asking again", *p.pod).Warning(a.message);
    Wait(p, now_ + std::min(NextRetry(p), kMaxBindRetry));
    return;
  }
  if (!gone && !fresh->node_name.empty()) {
    PodAssigned(fresh);
    return;
  }
  if (const api::PodPtr known = cache_->GetPod(p.pod->meta.uid); known != nullptr) {
    if (auto s = cache_->RemovePod(*known); !s.ok()) log_.CacheFailed("RemovePod", *known, util::Message(s));
    Happened(ClusterEvent::Kind::kAssignedPodDelete, known.get());
  }
  if (gone || !Ours(*fresh)) return Erase(p);
  p.pod = fresh;
  p.attempt.reset();
  p.confirmed = false;
  Enqueue(p);
}

}  // namespace berth::scheduler
