// What follows a failed attempt until release 1.13: an event, the PodScheduled condition, preemption, and the way back
// into the queue. The pod waits for each write before the next step, and it is read again before it goes back into the
// queue.
//
//   Fail --> WriteCondition --> ConditionDone --> BackIntoQueue --> Refetch --> queue
//                                   |                ^
//                                   v                |
//                            StartPreemption --> EndPreemption --> queue
#include <absl/strings/str_cat.h>
#include <absl/time/time.h>
#include <glog/logging.h>

#include <utility>

#include "pkg/scheduler/after_failure.h"

namespace berth::scheduler {
namespace {

using Place = PendingPlace;

// How long to wait before the condition of a kUnsupported pod is written again, after the write has failed.
constexpr absl::Duration kRetryUnsupported = absl::Seconds(30);

class RefetchAfterFailure : public AfterFailure {
 public:
  explicit RefetchAfterFailure(SchedulingState* state) : s_(*state), pending_(state->pending) {}

  void NotPlaced(PendingPod& p, std::unique_ptr<Attempt> attempt, const Decision& d) override;
  void Fail(PendingPod& p, AttemptFailure f) override;
  void Replied(const Request& request, const Reply& r) override;
  void TimeUp(PendingPod& p) override { Refetch(p); }

 private:
  // Whether pods wait for a back-off of this class, rather than for the queue's.
  bool BacksOff() const { return !s_.options.pod_priority || !s_.options.orders_queue_by_priority; }
  void WriteCondition(PendingPod& p, const api::PodCondition& c);
  void ConditionWritten(PendingPod& p, const Reply& r);
  void ConditionDone(PendingPod& p);
  void BackIntoQueue(PendingPod& p);
  void Refetch(PendingPod& p);
  void Refetched(PendingPod& p, const Answer& a, const api::PodPtr& fresh);
  void StartPreemption(PendingPod& p);
  void Preempt(PendingPod& p, const Answer& a, const api::PodPtr& fresh);
  void Nominated(PendingPod& p, const Answer& a, const api::PodPtr& fresh);
  void DeleteNextVictim(PendingPod& p);
  void VictimDeleted(PendingPod& p, const Answer& a);
  void ClearNominations(PendingPod& p);
  void EndPreemption(PendingPod& p);

  SchedulingState& s_;
  PendingTable& pending_;
};

void RefetchAfterFailure::NotPlaced(PendingPod& p, std::unique_ptr<Attempt> attempt, const Decision& d) {
  VLOG(1) << "Failed to schedule pod: " << Name(*p.pod) << ": " << d.error;
  s_.log.AttemptFailed(*p.pod, WhyFailed(d), d.error);
  const bool unfit = d.outcome == Decision::Outcome::kUnfit;
  if (unfit && p.pod->tmpl->never_preempts) {
    VLOG(3) << "Pod " << Name(*p.pod) << " does not preempt: its preemptionPolicy is Never";
  } else if (unfit) {
    if (s_.options.pod_priority && s_.options.preempts) {
      attempt->failures = d.failures;
      attempt->decided_at = s_.cache->generation();
      p.attempt = std::move(attempt);
    } else {
      ++s_.metrics.preemption_attempts;
      s_.metrics.preemption.Observe(s_.clock->Steady() - s_.now);
      VLOG(3) << "Pod priority feature is not enabled. No preemption is performed.";
    }
  }
  Fail(p, {.event = d.error, .reason = "Unschedulable", .message = d.error, .why = p.why});
}

// Reports a failed attempt. The condition is written only if it says something new; it keeps the time of the last
// transition if the pod had the status already.
void RefetchAfterFailure::Fail(PendingPod& p, AttemptFailure f) {
  if (!f.is_logged) s_.log.AttemptFailed(*p.pod, SchedulerLog::Failure::kError, f.message);
  p.why = f.why;
  if (BacksOff()) {
    const absl::Duration wait = s_.backoff.Next(p.pod->meta.Key(), s_.now);
    VLOG(4) << "Backing off " << absl::FormatDuration(wait);
    p.not_before = s_.now + wait;
  } else {
    s_.queue->nominated()->Add(p.pod);  // its nomination must count while it is not in the queue
  }
  s_.actions->RecordEvent(p.pod, f.event_type, "FailedScheduling", std::move(f.event));
  s_.log.UpdatingCondition(*p.pod, f.reason);
  const auto& had = p.pod->scheduled;
  api::PodCondition c{"False", std::string(f.reason), std::move(f.message), "", ""};
  if (had && had->status == c.status) c.last_transition_time = had->last_transition_time;
  if (s_.process.notes_probe_time) c.last_probe_time = s_.WallTime();
  if (had && had->status == c.status && had->reason == c.reason && had->message == c.message &&
      had->last_probe_time == c.last_probe_time) {
    ConditionDone(p);
    return;
  }
  if (c.last_transition_time.empty()) c.last_transition_time = s_.WallTime();
  WriteCondition(p, c);
}

void RefetchAfterFailure::Replied(const Request& request, const Reply& r) {
  switch (request.kind) {
    case RequestKind::kCondition:
      return ConditionWritten(*request.pod, r);
    case RequestKind::kLateCondition:
      if (!r.answer.ok()) {
        LOG(WARNING) << "Cannot update the PodScheduled condition of pod " << request.what << ": " << r.answer.message;
      }
      return;
    case RequestKind::kRefetch:
      return Refetched(*request.pod, r.answer, r.pod);
    case RequestKind::kPreemptor:
      return Preempt(*request.pod, r.answer, r.pod);
    case RequestKind::kNominate:
      return Nominated(*request.pod, r.answer, r.pod);
    case RequestKind::kVictim:
      return VictimDeleted(*request.pod, r.answer);
    case RequestKind::kClearNomination:
      if (!r.answer.ok()) LOG(ERROR) << "Cannot remove nominated node annotation of pod: " << r.answer.message;
      return;
    default:
      LOG(DFATAL) << "a reply to a request that was never made after a failure";
  }
}

// ---- the condition ------------------------------------------------------------------------------

void RefetchAfterFailure::WriteCondition(PendingPod& p, const api::PodCondition& c) {
  pending_.SetPlace(p, Place::kWritingStatus);
  p.unwritten = c;
  s_.actions->UpdatePodCondition(pending_.Ask(RequestKind::kCondition, &p), p.pod, c);
}

void RefetchAfterFailure::ConditionWritten(PendingPod& p, const Reply& r) {
  if (r.answer.ok()) {
    if (r.pod != nullptr) p.pod = r.pod;
    p.unwritten.reset();
  } else if (r.answer.kind != Answer::Kind::kConflict) {
    // After a conflict, the condition is written again when the pod has been read. After any other error, it is left to
    // the next attempt.
    if (!p.unsupported) p.unwritten.reset();
    LOG(WARNING) << "Cannot update the PodScheduled condition of pod " << Name(*p.pod) << ": " << r.answer.message;
  }
  ConditionDone(p);
}

// Continues after the condition was written, or when there was nothing to write.
void RefetchAfterFailure::ConditionDone(PendingPod& p) {
  if (p.attempt != nullptr && p.attempt->failures != nullptr) {
    StartPreemption(p);
  } else {
    BackIntoQueue(p);
  }
}

// ---- back into the queue ------------------------------------------------------------------------

void RefetchAfterFailure::BackIntoQueue(PendingPod& p) {
  p.attempt.reset();
  const bool unsupported = std::exchange(p.unsupported, false);
  const bool unwritten = p.unwritten.has_value();
  if (p.changed) {
    p.changed = false;
    p.unwritten.reset();
    return s_.Enqueue(p);
  }
  if (unsupported && s_.fields.BlockingOf(p).any()) {
    // The pod is not tried again, so no later attempt would write the condition that says why it waits. If the write
    // has failed, another attempt is made for this purpose.
    p.unwritten.reset();
    pending_.SetPlace(p, Place::kUnsupported);
    if (unwritten) pending_.Wait(p, s_.now + kRetryUnsupported);
    return;
  }
  if (BacksOff() && s_.now < p.not_before) {
    pending_.SetPlace(p, Place::kBackoff);
    pending_.Wait(p, p.not_before);
    return;
  }
  Refetch(p);
}

void RefetchAfterFailure::Refetch(PendingPod& p) {
  pending_.SetPlace(p, Place::kRefetching);
  s_.actions->GetPod(pending_.Ask(RequestKind::kRefetch, &p), *p.pod);
}

void RefetchAfterFailure::Refetched(PendingPod& p, const Answer& a, const api::PodPtr& fresh) {
  if (a.kind == Answer::Kind::kNotFound || (a.ok() && fresh->meta.uid != p.pod->meta.uid)) {
    LOG(WARNING) << "A pod " << Name(*p.pod) << " no longer exists";
    return s_.Erase(p);
  }
  if (!a.ok()) {
    LOG(ERROR) << "Error getting pod " << Name(*p.pod) << " for retry: " << a.message << "; retrying...";
    pending_.Wait(p, s_.now + s_.NextRetry(p));
    return;
  }
  if (!fresh->node_name.empty() || fresh->Finished()) return s_.Erase(p);  // the watch will tell the cache
  const bool changed = SpecOrMetadataChanged(*p.pod, *fresh);
  if (p.unwritten && !BacksOff() && !changed) {
    // The write of the condition met a conflict; with the object that was read now it can succeed. A pod that is tried
    // again at once has the condition written by that attempt.
    s_.actions->UpdatePodCondition(pending_.Ask(RequestKind::kLateCondition, nullptr, Name(*fresh)), fresh,
                                   *p.unwritten);
  }
  p.unwritten.reset();
  p.pod = p.nomination ? WithNomination(*fresh, p.nomination->first) : fresh;
  if (changed) {
    s_.Enqueue(p);
  } else {
    pending_.SetPlace(p, Place::kQueued);
    s_.queue->AddUnschedulableIfNotPresent(p.pod, p.why, p.cycle, s_.now);
  }
}

// ---- preemption ---------------------------------------------------------------------------------
// The steps are: read the preemptor again, choose node and victims, nominate, delete the victims one after another, and
// clear the nominations that are void now. The nomination counts from when the node is chosen, so that no pod of lower
// priority is placed there meanwhile.

void RefetchAfterFailure::StartPreemption(PendingPod& p) {
  pending_.SetPlace(p, Place::kPreempting);
  s_.actions->GetPod(pending_.Ask(RequestKind::kPreemptor, &p), *p.pod);
}

void RefetchAfterFailure::Preempt(PendingPod& p, const Answer& a, const api::PodPtr& fresh) {
  if (a.kind == Answer::Kind::kNotFound || (a.ok() && fresh->meta.uid != p.pod->meta.uid)) {
    LOG(ERROR) << "Error getting the updated preemptor pod object: "
               << (a.ok() ? absl::StrCat("pods \"", p.pod->meta.name, "\" is another one now") : a.message);
    return s_.Erase(p);
  }
  if (!a.ok()) {
    LOG(ERROR) << "Error getting the updated preemptor pod object: " << a.message;
    return EndPreemption(p);
  }
  if (!fresh->node_name.empty() || fresh->Finished()) return s_.Erase(p);
  p.changed |= SpecOrMetadataChanged(*p.pod, *fresh);
  p.pod = fresh;
  Attempt& t = *p.attempt;
  s_.ChoosePreemption(p, *t.failures);
  if (!t.preemption.error.empty()) {
    LOG(ERROR) << "Error preempting victims to make room for " << Name(*fresh) << ": " << t.preemption.error;
    return EndPreemption(p);
  }
  if (t.preemption.node.empty()) {
    // No node was found, so the earlier nomination is of no use, but it keeps resources from other pods. Clear it.
    if (s_.process.ends_vain_nominations && t.preemption.nominated_to_clear.empty() && !s_.RoomIsBeingMade(*fresh)) {
      t.preemption.nominated_to_clear.push_back(fresh);
    }
    return ClearNominations(p);
  }
  p.nomination = {util::SharedSymbol(t.preemption.node), ""};
  p.pod = WithNomination(*fresh, t.preemption.node);
  s_.queue->nominated()->Add(p.pod);
  s_.actions->SetNominatedNode(pending_.Ask(RequestKind::kNominate, &p), fresh, t.preemption.node);
}

// Handles the answer to the nomination. If it could not be written, no pod is evicted.
void RefetchAfterFailure::Nominated(PendingPod& p, const Answer& a, const api::PodPtr& fresh) {
  if (!a.ok()) {
    LOG(ERROR) << "Error in preemption process. Cannot update pod " << p.pod->meta.name
               << " annotations: " << a.message;
    p.nomination.reset();
    p.pod = WithNomination(*p.pod, Symbol());
    s_.queue->nominated()->Remove(*p.pod);
    return EndPreemption(p);
  }
  if (fresh != nullptr) {
    p.pod = WithNomination(*fresh, p.attempt->preemption.node);
    if (p.nomination) p.nomination->second = fresh->meta.resource_version.str();
  }
  DeleteNextVictim(p);
}

void RefetchAfterFailure::DeleteNextVictim(PendingPod& p) {
  if (p.gone) return s_.Erase(p);
  Attempt& t = *p.attempt;
  if (t.next_victim == t.preemption.victims.size()) return ClearNominations(p);
  s_.actions->DeletePod(pending_.Ask(RequestKind::kVictim, &p), t.preemption.victims[t.next_victim]);
}

void RefetchAfterFailure::VictimDeleted(PendingPod& p, const Answer& a) {
  Attempt& t = *p.attempt;
  const api::PodPtr& victim = t.preemption.victims[t.next_victim];
  if (a.ok()) {
    s_.actions->RecordRelatedEvent(victim, EventType::kNormal, "Preempted",
                                   s_.process.preempted_note(*p.pod, t.preemption.node.str()), p.pod);
  } else if (a.kind == Answer::Kind::kNotFound) {
    if (VLOG_IS_ON(2)) LineAbout("A victim of preemption is gone already", *victim).Info(2);
  } else {
    s_.log.VictimNotEvicted(*p.pod, *victim, a.message);
    return EndPreemption(p);
  }
  ++t.next_victim;
  DeleteNextVictim(p);
}

// Clears the nominations that are void now: those of pods with lower priority to the chosen node or, when there is no
// such node, that of the preemptor itself.
void RefetchAfterFailure::ClearNominations(PendingPod& p) {
  for (const api::PodPtr& pod : p.attempt->preemption.nominated_to_clear) {
    if (pod->nominated_node_name.empty()) continue;
    PendingPod* other = pending_.Find(*pod);
    // The object in the pending table is newer than the one in the queue, which preemption has used.
    const api::PodPtr newest = other != nullptr ? other->pod : pod;
    const api::PodPtr cleared = WithNomination(*newest, Symbol());
    s_.queue->nominated()->Remove(*pod);
    if (other != nullptr) {
      other->pod = cleared;
      other->nomination.reset();
      if (other->place == Place::kQueued) s_.queue->Update(cleared, false, s_.now);
    }
    s_.actions->SetNominatedNode(pending_.Ask(RequestKind::kClearNomination, nullptr), newest, Symbol());
  }
  EndPreemption(p);
}

// Puts the preemptor back into the queue. It was read at the beginning of the preemption, so it is not read again
// unless it has changed or its condition is still to be written. Where the queue knows no back-off (1.8), the pod waits
// for its own, whatever preemption came to, and is read after that (MakeDefaultErrorFunc in factory.go, which runs
// beside preempt).
void RefetchAfterFailure::EndPreemption(PendingPod& p) {
  if (p.gone) return s_.Erase(p);
  p.attempt.reset();
  if (p.changed || p.unwritten || BacksOff()) return BackIntoQueue(p);
  pending_.SetPlace(p, Place::kQueued);
  s_.queue->AddUnschedulableIfNotPresent(p.pod, p.why, p.cycle, s_.now);
}

}  // namespace

std::unique_ptr<AfterFailure> NewRefetchAfterFailure(SchedulingState* state) {
  return std::make_unique<RefetchAfterFailure>(state);
}

}  // namespace berth::scheduler
