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

#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/claim_writes.h"
#include "pkg/util/contract.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

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
  BERTH_REQUIRES(d.outcome != Decision::Outcome::kPlaced);
  if (d.outcome == Decision::Outcome::kNoNodes) return SchedulerLog::Failure::kNoNodes;
  if (d.outcome == Decision::Outcome::kUnfit) return SchedulerLog::Failure::kUnfit;
  return d.error_kind == reasons::kNoClaim ? SchedulerLog::Failure::kNotFound : SchedulerLog::Failure::kError;
}

// Decides about a pod. Which decisions are made both ways follows from counting and not from chance, so that a run can
// be repeated from its inputs.
Decision Scheduler::Decide(const api::PodPtr& pod, GenericScheduler& algorithm) {
  algorithm.set_cycle(++decisions_);
  checks_due_ += s_.options.check_decisions;
  const bool checked = checks_due_ >= 1;
  Decision d = algorithm.Schedule(pod, checked ? DecisionMode::kBoth : DecisionMode::kIncremental);
  for (auto& [name, other] : s_.profiles) other->set_last_node_index(algorithm.last_node_index());
  if (!checked) return d;
  checks_due_ -= 1;
  ++s_.metrics.checked_decisions;
  if (!d.difference.empty()) {
    ++s_.metrics.decision_differences;
    LineAbout("Self-check failed: the incremental and the reference scheduler disagree. The reference decision is used",
              *pod)
        .Error(d.difference);
  }
  return d;
}

bool Scheduler::ScheduleOne() {
  if (stopped_ || s_.Saturated()) return false;
  if (s_.options.may_bind && !s_.options.may_bind()) return false;
  const api::PodPtr pod = s_.queue->Pop();
  if (pod == nullptr) return false;
  s_.now = s_.clock->Steady();
  PendingPod* found = pending_.Find(*pod);
  if (found == nullptr || found->place != Place::kQueued) {
    LOG(DFATAL) << "pod " << Name(*pod) << " came out of the queue and is not known as queued";
    return true;
  }
  PendingPod& p = *found;
  p.pod = pod;
  p.cycle = s_.queue->cycle();
  p.changed = false;
  p.retry_wait = absl::ZeroDuration();
  ++p.attempts;
  if (pod->meta.deleting()) {
    SkipDeleting(p);
  } else if (!SetAsideUnsupported(p)) {
    TryPod(p);
  }
  return true;
}

void Scheduler::TryPod(PendingPod& p) {
  const api::PodPtr pod = p.pod;
  s_.log.Attempting(*pod);
  auto attempt = std::make_unique<Attempt>();
  attempt->begun = s_.now;
  GenericScheduler& algorithm = s_.AlgorithmOf(*pod);
  const Decision d = Decide(pod, algorithm);
  s_.now = s_.clock->Steady();
  if (s_.options.observer != nullptr) s_.options.observer->Decided(pod, d, algorithm.last_node_index());
  ObserveDecision(*pod, d, algorithm.timing());
  if (d.outcome != Decision::Outcome::kPlaced) return NotPlaced(p, std::move(attempt), d);

  s_.metrics.algorithm.Observe(s_.now - attempt->begun);
  s_.metrics.predicates.Observe(algorithm.timing().predicates);
  s_.metrics.priorities.Observe(algorithm.timing().priorities);
  pending_.SetReasons(p, {});
  auto assumed = std::make_shared<api::Pod>(*pod);
  assumed->node_name = d.host;
  attempt->assumed = assumed;
  attempt->nodes = {d.nodes, d.feasible};
  p.attempt = std::move(attempt);
  if (!claims_->BeforeAssuming(p, assumed)) return;
  if (auto s = s_.cache->AssumePod(assumed); !s.ok()) {
    ++s_.metrics.errors;
    const std::string err(s.message());
    p.attempt.reset();
    return failures_->Fail(p, {.event = absl::StrCat("AssumePod failed: ", err),
                               .reason = "SchedulerError",
                               .message = err,
                               .is_logged = false});
  }
  ++s_.metrics.scheduled;
  if (claims_->AfterAssuming(p)) StartBind(p);
}

// Begins to bind the pod. REQUIRES: the pod is assumed and its volumes are ready.
void Scheduler::StartBind(PendingPod& p) {
  ++s_.binds_in_flight;
  pending_.SetPlace(p, Place::kBinding);
  p.attempt->bind_begun = s_.now;
  if (p.attempt->volumes_begun) {
    s_.ObserveStage(*p.pod, Stage::kPreBind, StageStatus::kSuccess, s_.now - *p.attempt->volumes_begun);
  }
  Bind(p);
}

// Handles a decision that found no node or ended with an error.
void Scheduler::NotPlaced(PendingPod& p, std::unique_ptr<Attempt> attempt, const Decision& d) {
  const bool unfit = d.outcome == Decision::Outcome::kUnfit;
  ++(unfit ? s_.metrics.unschedulable : s_.metrics.errors);
  s_.CountAttempt(*p.pod, unfit ? AttemptResult::kUnschedulable : AttemptResult::kError, s_.now - attempt->begun);
  if (d.failures != nullptr) {
    pending_.SetReasons(p, s_.ReasonsOf(d.failures));
  } else {
    pending_.SetReasons(p, {d.nodes == 0 ? NoNodesReason() : ReasonOfError(d.error_kind)});
  }
  p.why = d.nodes == 0 || unfit ? Requeue::kUnschedulable : Requeue::kRetry;
  failures_->NotPlaced(p, std::move(attempt), d);
}

bool Scheduler::SetAsideUnsupported(PendingPod& p) {
  const PodFieldSet blocking = s_.fields.BlockingOf(p);
  if (blocking.none()) return false;
  ++s_.metrics.unschedulable;
  pending_.SetReasons(p, {FailureReasonNamed("unknown field")});
  p.unsupported = true;
  const std::string why = BlockedText(blocking);
  failures_->Fail(p, {.event = why, .reason = "Unschedulable", .message = why, .why = Requeue::kUnschedulable});
  return true;
}

void Scheduler::ObserveDecision(const api::Pod& pod, const Decision& d, const GenericScheduler::Timing& timing) {
  const bool placed = d.outcome == Decision::Outcome::kPlaced;
  const bool unfit = d.outcome == Decision::Outcome::kUnfit;
  s_.metrics.volumes.predicate.took.Observe(timing.predicates);
  s_.ObserveStage(pod, Stage::kFilter,
                  placed  ? StageStatus::kSuccess
                  : unfit ? StageStatus::kUnschedulable
                          : StageStatus::kError,
                  timing.predicates);
  if (placed && d.feasible > 1) s_.ObserveStage(pod, Stage::kScore, StageStatus::kSuccess, timing.priorities);
}

// A terminating pod is not tried; it stays in kDeleting until it is gone (1.10: skip schedule deleting pod).
void Scheduler::SkipDeleting(PendingPod& p) {
  s_.actions->RecordEvent(p.pod, EventType::kWarning, "FailedScheduling",
                          absl::StrCat("skip schedule deleting pod: ", Name(*p.pod)));
  s_.log.SkippedDeleting(*p.pod);
  pending_.SetReasons(p, {});
  pending_.SetPlace(p, Place::kDeleting);
}

// ---- bind ---------------------------------------------------------------------------------------

void Scheduler::Bind(PendingPod& p) {
  const api::PodPtr& assumed = p.attempt->assumed;
  s_.log.Binding(*assumed);
  Extender* binder = BinderFor(s_.AlgorithmOf(*assumed), *assumed);
  p.attempt->by_extender = binder != nullptr;
  s_.actions->Bind(pending_.Ask(RequestKind::kBind, &p), assumed, binder);
}

// Handles the answer to a bind. After an error that leaves it open whether the bind was executed, and after any error
// once an earlier answer was lost, the pod is read; only then is anything concluded or written.
void Scheduler::BindAnswered(PendingPod& p, const Answer& a) {
  if (a.ok()) return Bound(p);
  if (p.gone) {
    if (VLOG_IS_ON(2)) LineAbout("A pod was deleted while it was being bound", *p.pod).Add("err", a.message).Info(2);
    return BindFailed(p, a);
  }
  const bool may_be_done = a.kind == Answer::Kind::kServerError || a.kind == Answer::Kind::kLost ||
                           (a.kind == Answer::Kind::kConflict && s_.process.reads_pod_after_conflict);
  if (may_be_done || p.attempt->lost_at) {
    ++s_.metrics.binds_unknown;
    LineAbout("The outcome of binding a pod is unknown. Asking the API server where the pod is", *p.pod)
        .Add("node", p.attempt->assumed->node_name.str())
        .Warning(a.message);
    p.attempt->bind_answer = a;
    if (a.kind == Answer::Kind::kLost) p.attempt->lost_at = s_.now;
    pending_.SetPlace(p, Place::kBindUnknown);
    if (p.confirmed) {
      const api::PodPtr shown = s_.cache->GetPod(p.pod->meta.uid);
      return BindOutcome(p, {}, shown != nullptr ? shown : p.attempt->assumed);
    }
    return AskBindOutcome(p);
  }
  BindFailed(p, a);
}

void Scheduler::AskBindOutcome(PendingPod& p) {
  s_.actions->GetPod(pending_.Ask(RequestKind::kBindOutcome, &p), *p.pod);
}

// Handles the pod as it was read (or as the watch has shown it) after a bind with an unknown outcome.
void Scheduler::BindOutcome(PendingPod& p, const Answer& a, const api::PodPtr& fresh) {
  pending_.CancelRequest(p);
  pending_.StopWaiting(p);
  if (a.kind == Answer::Kind::kNotFound || (a.ok() && fresh->meta.uid != p.pod->meta.uid)) {
    p.gone = true;
    return BindFailed(p, p.attempt->bind_answer);
  }
  if (!a.ok()) {
    pending_.Wait(p, s_.now + std::min(s_.NextRetry(p), kMaxBindRetry));
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
      !lost_at || (s_.now - *lost_at > kRequestLifetime && p.attempt->bind_answer.kind != Answer::Kind::kLost);
  if (settled) return BindFailed(p, p.attempt->bind_answer);
  pending_.SetPlace(p, Place::kBinding);
  const int resends = p.attempt->resends++;
  if (resends == 0) return Bind(p);
  pending_.Wait(p, s_.now + std::min(absl::Milliseconds(100) * (1 << std::min(resends, 10)), kMaxBindRetry));
}

// Ends an attempt whose bind was executed. The pod stays assumed and pending (kBound) until the watch shows its node.
void Scheduler::Bound(PendingPod& p) {
  --s_.binds_in_flight;
  const Attempt& t = *p.attempt;
  s_.cache->FinishBinding(*t.assumed, s_.now);
  s_.metrics.binding.Observe(s_.now - t.bind_begun);
  if (!t.by_extender) s_.ObserveStage(*p.pod, Stage::kBind, StageStatus::kSuccess, s_.now - t.bind_begun);
  s_.metrics.e2e.Observe(s_.now - t.begun);
  ++s_.metrics.bound;
  if (s_.queue->WasFlushed(*p.pod)) ++s_.metrics.bound_after_flush;
  s_.CountAttempt(*p.pod, AttemptResult::kScheduled, s_.now - t.begun);
  s_.metrics.attempts_to_bind.Observe(int64_t{p.attempts});
  s_.metrics.waits[std::min<size_t>(std::max<uint32_t>(p.attempts, 1), s_.metrics.waits.size()) - 1].Observe(s_.now -
                                                                                                             p.since);
  s_.log.Bound(*t.assumed, t.nodes);
  s_.actions->RecordEvent(t.assumed, EventType::kNormal, "Scheduled", s_.process.scheduled_note(*t.assumed));
  pending_.SetPlace(p, Place::kBound);
  // If the watch has shown the pod with a node already, it is no longer pending.
  if (p.confirmed || p.gone || !s_.cache->IsAssumed(p.pod->meta.uid)) {
    s_.Erase(p);
  } else {
    p.attempt.reset();
  }
}

// `a` is passed by value because it may be the attempt's bind_answer, and the attempt ends here.
void Scheduler::BindFailed(PendingPod& p, Answer a) {
  --s_.binds_in_flight;
  ++s_.metrics.bind_failures;
  s_.CountAttempt(*p.pod, AttemptResult::kError, s_.now - p.attempt->begun);
  if (!p.attempt->by_extender) {
    s_.ObserveStage(*p.pod, Stage::kBind, StageStatus::kError, s_.now - p.attempt->bind_begun);
  }
  const api::PodPtr assumed = p.attempt->assumed;
  s_.metrics.e2e.Observe(s_.now - p.attempt->begun);
  pending_.SetPlace(p, Place::kWritingStatus);
  s_.cache->FinishBinding(*assumed, s_.now);
  const bool not_found = a.kind == Answer::Kind::kNotFound;
  s_.ForgetAssumed(assumed);
  if (p.gone) {
    s_.log.GoneMeanwhile(*p.pod);
    return s_.Erase(p);
  }
  s_.log.BindFailed(*assumed, not_found ? SchedulerLog::Failure::kNotFound : SchedulerLog::Failure::kError, a.message);
  if (s_.process.asks_for_lost_nodes && not_found && a.details_kind == "node") {
    const Symbol node = assumed->node_name;
    s_.actions->GetNode(pending_.Ask(RequestKind::kNode, nullptr, node.string()), node);
  }
  const bool bare = p.attempt->by_extender && s_.process.extender_bind_error_is_bare;
  const std::string note = bare ? a.message : s_.process.bind_failed_note(a.message);
  p.attempt.reset();
  if (p.confirmed) {
    const api::PodPtr shown = s_.cache->GetPod(p.pod->meta.uid);
    s_.log.BoundAlready(*p.pod, shown != nullptr ? shown->node_name.str() : "");
    s_.actions->RecordEvent(assumed, EventType::kWarning, "FailedScheduling", note);
    return s_.Erase(p);
  }
  failures_->Fail(p, {.event = note,
                      .reason = s_.process.bind_failed_reason,
                      .message = s_.process.condition_has_bind_error ? note : std::string(),
                      .not_found = not_found});
}

// ---- when the watch and the cache disagree -------------------------------------------------------

// Reads the pod, which is kVerifying, to find out whether it has a node.
void Scheduler::Verify(PendingPod& p) {
  s_.actions->GetPod(pending_.Ask(RequestKind::kVerify, &p), *p.pod);
}

// Makes the cache agree with the pod as it was read: it has a node, or it is pending again, or it is gone.
void Scheduler::Verified(PendingPod& p, const Answer& a, const api::PodPtr& fresh) {
  const bool gone = a.kind == Answer::Kind::kNotFound || (a.ok() && fresh->meta.uid != p.pod->meta.uid) ||
                    (a.ok() && fresh->Finished());
  if (!a.ok() && !gone) {
    LineAbout("Cannot find out where a pod is. Asking again", *p.pod).Warning(a.message);
    pending_.Wait(p, s_.now + std::min(s_.NextRetry(p), kMaxBindRetry));
    return;
  }
  if (!gone && !fresh->node_name.empty()) {
    PodAssigned(fresh);
    return;
  }
  if (const api::PodPtr known = s_.cache->GetPod(p.pod->meta.uid); known != nullptr) {
    if (auto s = s_.cache->RemovePod(*known); !s.ok()) s_.log.CacheFailed("RemovePod", *known, util::Message(s));
    s_.ClusterChanged<api::Pod>(ClusterEvent::Kind::kAssignedPodDelete, {known, nullptr});
  }
  if (gone || !Ours(*fresh)) return s_.Erase(p);
  p.pod = fresh;
  p.attempt.reset();
  p.confirmed = false;
  s_.Enqueue(p);
}

}  // namespace berth::scheduler
