// What follows a failed attempt in release 1.10: an event, the PodScheduled condition, preemption, and the way back
// into the queue. Unlike in release 1.29 (scheduler_rejection.cc), the pod waits for each write before the next step,
// and it is read again before it goes back into the queue.
//
//   Fail --> WriteCondition --> StatusDone --> BackIntoQueue --> Refetch --> queue
//                                   |                ^
//                                   v                |
//                            StartPreemption --> EndPreemption --> queue
#include <absl/strings/str_cat.h>
#include <absl/time/time.h>
#include <glog/logging.h>

#include <algorithm>

#include "pkg/scheduler/scheduler_internal.h"

namespace berth::scheduler {

// How long to wait before the condition of a kUnsupported pod is written again, after the write has failed.
constexpr absl::Duration kRetryUnsupported = absl::Seconds(30);

api::PodPtr WithNomination(const api::Pod& pod, Symbol node) {
  auto copy = std::make_shared<api::Pod>(pod);
  copy->nominated_node_name = node;
  return copy;
}

// Reports a failed attempt. The condition is written only if it says something new; it keeps the time of the last
// transition if the pod had the status already.
void Scheduler::Fail(Pending& p, Failure f) {
  p.why = f.why;
  if (process_.requeues_at_once) {
    p.attempt = std::make_unique<Attempt>();
    p.attempt->rejection = {.message = std::move(f.event),
                            .reason = f.reason,
                            .why = f.not_found                        ? SchedulerLog::Failure::kNotFound
                                   : f.why == Requeue::kUnschedulable ? SchedulerLog::Failure::kUnfit
                                                                      : SchedulerLog::Failure::kError,
                            .plugins = {},
                            .nomination = {}};
    if (process_.errors_end_nominations) p.attempt->rejection.nomination = Symbol();
    return FinishRejection(p);
  }
  if (BacksOff()) {
    const absl::Duration wait = backoff_.Next(p.pod->meta.Key(), now_);
    VLOG(4) << "Backing off " << absl::FormatDuration(wait);
    p.not_before = now_ + wait;
  } else {
    queue_->nominated()->Add(p.pod);  // its nomination must count while it is not in the queue
  }
  actions_->RecordEvent(p.pod, f.event_type, "FailedScheduling", std::move(f.event));
  log_.UpdatingCondition(*p.pod, f.reason);
  const auto& had = p.pod->scheduled;
  api::PodCondition c{"False", std::string(f.reason), std::move(f.message), "", ""};
  if (had && had->status == c.status) c.last_transition_time = had->last_transition_time;
  if (had && had->status == c.status && had->reason == c.reason && had->message == c.message &&
      had->last_probe_time == c.last_probe_time) {
    StatusDone(p);
    return;
  }
  if (c.last_transition_time.empty()) {
    c.last_transition_time = absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", clock_->Wall(), absl::UTCTimeZone());
  }
  WriteCondition(p, c);
}

void Scheduler::WriteCondition(Pending& p, const api::PodCondition& c) {
  SetPlace(p, Place::kWritingStatus);
  p.unwritten = c;
  actions_->UpdatePodCondition(Ask(Asked::kCondition, &p), p.pod, c);
}

// Continues after the condition was written, or when there was nothing to write.
void Scheduler::StatusDone(Pending& p) {
  if (p.attempt != nullptr && p.attempt->failures != nullptr) {
    StartPreemption(p);
  } else {
    BackIntoQueue(p);
  }
}

// ---- back into the queue ------------------------------------------------------------------------

void Scheduler::BackIntoQueue(Pending& p) {
  p.attempt.reset();
  const bool unsupported = std::exchange(p.unsupported, false);
  const bool unwritten = p.unwritten.has_value();
  if (p.changed) {
    p.changed = false;
    p.unwritten.reset();
    return Enqueue(p);
  }
  if (unsupported && BlockingFieldsOf(p).any()) {
    // The pod is not tried again, so no later attempt would write the condition that says why it waits. If the write
    // has failed, another attempt is made for this purpose.
    p.unwritten.reset();
    SetPlace(p, Place::kUnsupported);
    if (unwritten) Wait(p, now_ + kRetryUnsupported);
    return;
  }
  if (BacksOff() && now_ < p.not_before) {
    SetPlace(p, Place::kBackoff);
    Wait(p, p.not_before);
    return;
  }
  Refetch(p);
}

void Scheduler::Refetch(Pending& p) {
  SetPlace(p, Place::kRefetching);
  actions_->GetPod(Ask(Asked::kRefetch, &p), *p.pod);
}

void Scheduler::Refetched(Pending& p, const Answer& a, const api::PodPtr& fresh) {
  if (a.kind == Answer::Kind::kNotFound || (a.ok() && fresh->meta.uid != p.pod->meta.uid)) {
    LOG(WARNING) << "A pod " << Name(*p.pod) << " no longer exists";
    return Erase(p);
  }
  if (!a.ok()) {
    LOG(ERROR) << "Error getting pod " << Name(*p.pod) << " for retry: " << a.message << "; retrying...";
    Wait(p, now_ + NextRetry(p));
    return;
  }
  if (!fresh->node_name.empty() || fresh->Finished()) return Erase(p);  // the watch will tell the cache
  const bool changed = SpecOrMetadataChanged(*p.pod, *fresh);
  if (p.unwritten && !BacksOff() && !changed) {
    // The write of the condition met a conflict; with the object that was read now it can succeed. A pod that is tried
    // again at once has the condition written by that attempt.
    actions_->UpdatePodCondition(Ask(Asked::kLateCondition, nullptr, Name(*fresh)), fresh, *p.unwritten);
  }
  p.unwritten.reset();
  p.pod = p.nomination ? WithNomination(*fresh, p.nomination->first) : fresh;
  if (changed) {
    Enqueue(p);
  } else {
    SetPlace(p, Place::kQueued);
    queue_->AddUnschedulableIfNotPresent(p.pod, p.why, p.cycle, now_);
  }
}

// ---- preemption ---------------------------------------------------------------------------------
// The steps are: read the preemptor again, choose node and victims, nominate, delete the victims one after another, and
// clear the nominations that are void now. The nomination counts from when the node is chosen, so that no pod of lower
// priority is placed there meanwhile.

void Scheduler::StartPreemption(Pending& p) {
  SetPlace(p, Place::kPreempting);
  actions_->GetPod(Ask(Asked::kPreemptor, &p), *p.pod);
}

void Scheduler::Preempt(Pending& p, const Answer& a, const api::PodPtr& fresh) {
  if (a.kind == Answer::Kind::kNotFound || (a.ok() && fresh->meta.uid != p.pod->meta.uid)) {
    LOG(ERROR) << "Error getting the updated preemptor pod object: "
               << (a.ok() ? absl::StrCat("pods \"", p.pod->meta.name, "\" is another one now") : a.message);
    return Erase(p);
  }
  if (!a.ok()) {
    LOG(ERROR) << "Error getting the updated preemptor pod object: " << a.message;
    return EndPreemption(p);
  }
  if (!fresh->node_name.empty() || fresh->Finished()) return Erase(p);
  p.changed |= SpecOrMetadataChanged(*p.pod, *fresh);
  p.pod = fresh;
  Attempt& t = *p.attempt;
  const absl::Duration begun = clock_->Steady();
  t.preemption = profiles_.find(fresh->tmpl->scheduler_name)->second->Preempt(fresh, *t.failures);
  now_ = clock_->Steady();
  if (options_.observer != nullptr) options_.observer->PreemptionChosen(fresh, t.preemption);
  ++metrics_.preemption_attempts;
  metrics_.preemption.Observe(now_ - begun);
  metrics_.preemption_victims = static_cast<int64_t>(t.preemption.victims.size());
  if (!t.preemption.victims.empty()) metrics_.victims.Observe(metrics_.preemption_victims);
  if (!t.preemption.error.empty()) {
    LOG(ERROR) << "Error preempting victims to make room for " << Name(*fresh) << ": " << t.preemption.error;
    return EndPreemption(p);
  }
  if (t.preemption.node.empty()) {
    // No node was found, so the earlier nomination is of no use, but it keeps resources from other pods. Clear it.
    if (t.preemption.nominated_to_clear.empty() && !RoomIsBeingMade(*fresh)) {
      t.preemption.nominated_to_clear.push_back(fresh);
    }
    return ClearNominations(p);
  }
  p.nomination = {util::SharedSymbol(t.preemption.node), ""};
  p.pod = WithNomination(*fresh, t.preemption.node);
  queue_->nominated()->Add(p.pod);
  actions_->SetNominatedNode(Ask(Asked::kNominate, &p), fresh, t.preemption.node);
}

// Returns whether a pod of lower priority is terminating on the node that this pod is nominated to.
bool Scheduler::RoomIsBeingMade(const api::Pod& pod) const {
  const Row row = cache_->FindRow(pod.nominated_node_name);
  if (row == kNoRow) return false;
  const auto& pods = cache_->row(row).pods;
  return std::any_of(pods.begin(), pods.end(),
                     [&](const PlacedPod& p) { return p.pod->meta.deleting() && p.pod->Priority() < pod.Priority(); });
}

// Handles the answer to the nomination. If it could not be written, no pod is evicted.
void Scheduler::Nominated(Pending& p, const Answer& a, const api::PodPtr& fresh) {
  if (!a.ok()) {
    LOG(ERROR) << "Error in preemption process. Cannot update pod " << p.pod->meta.name
               << " annotations: " << a.message;
    p.nomination.reset();
    p.pod = WithNomination(*p.pod, Symbol());
    queue_->nominated()->Remove(*p.pod);
    return EndPreemption(p);
  }
  if (fresh != nullptr) {
    p.pod = WithNomination(*fresh, p.attempt->preemption.node);
    if (p.nomination) p.nomination->second = fresh->meta.resource_version;
  }
  DeleteNextVictim(p);
}

void Scheduler::DeleteNextVictim(Pending& p) {
  Attempt& t = *p.attempt;
  if (t.next_victim == t.preemption.victims.size()) return ClearNominations(p);
  actions_->DeletePod(Ask(Asked::kVictim, &p), t.preemption.victims[t.next_victim]);
}

void Scheduler::VictimDeleted(Pending& p, const Answer& a) {
  Attempt& t = *p.attempt;
  const api::PodPtr& victim = t.preemption.victims[t.next_victim];
  if (a.ok()) {
    actions_->RecordRelatedEvent(victim, EventType::kNormal, "Preempted",
                                 process_.preempted_note(*p.pod, t.preemption.node.str()), p.pod);
  } else if (a.kind == Answer::Kind::kNotFound) {
    if (VLOG_IS_ON(2)) LineAbout("A victim of preemption is gone already", *victim).Info(2);
  } else {
    log_.VictimNotEvicted(*p.pod, *victim, a.message);
    return EndPreemption(p);
  }
  ++t.next_victim;
  DeleteNextVictim(p);
}

// Clears the nominations that are void now: those of pods with lower priority to the chosen node or, when there is no
// such node, that of the preemptor itself.
void Scheduler::ClearNominations(Pending& p) {
  for (const api::PodPtr& pod : p.attempt->preemption.nominated_to_clear) {
    if (pod->nominated_node_name.empty()) continue;
    Pending* other = Find(*pod);
    // The object in the pending table is newer than the one in the queue, which preemption has used.
    const api::PodPtr newest = other != nullptr ? other->pod : pod;
    const api::PodPtr cleared = WithNomination(*newest, Symbol());
    queue_->nominated()->Remove(*pod);
    if (other != nullptr) {
      other->pod = cleared;
      other->nomination.reset();
      if (other->place == Place::kQueued) queue_->Update(cleared, false, now_);
    }
    actions_->SetNominatedNode(Ask(Asked::kClearNomination, nullptr), newest, Symbol());
  }
  EndPreemption(p);
}

// Puts the preemptor back into the queue. It was read at the beginning of the preemption, so it is not read again
// unless it has changed or its condition is still to be written.
void Scheduler::EndPreemption(Pending& p) {
  p.attempt.reset();
  if (p.changed || p.unwritten) return BackIntoQueue(p);
  SetPlace(p, Place::kQueued);
  queue_->AddUnschedulableIfNotPresent(p.pod, p.why, p.cycle, now_);
}

}  // namespace berth::scheduler
