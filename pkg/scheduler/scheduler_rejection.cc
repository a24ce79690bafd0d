// What follows a failed attempt in release 1.29: preemption is part of the attempt, event and condition are written at
// the same time, and the pod goes back into the queue without waiting for these writes and without being read again
// (release 1.10: scheduler_failure.cc).
#include <absl/strings/str_cat.h>
#include <absl/time/time.h>
#include <glog/logging.h>

#include <algorithm>

#include "pkg/scheduler/scheduler_internal.h"

namespace berth::scheduler {
// Handles a decision that found no node or ended with an error.
void Scheduler::Reject(Pending& p, const Decision& d) {
  Rejection r{
      .message = d.error, .reason = "Unschedulable", .why = WhyFailed(d), .plugins = d.rejected_by, .nomination = {}};
  const bool unfit = d.outcome == Decision::Outcome::kUnfit;
  if (d.outcome == Decision::Outcome::kError) r.reason = process_.error_reason;
  if (!unfit && process_.errors_end_nominations) r.nomination = Symbol();
  auto attempt = std::make_unique<Attempt>();
  attempt->begun = now_;
  attempt->rejection = std::move(r);
  p.attempt = std::move(attempt);
  if (!unfit || d.failures == nullptr || !options_.pod_priority || !options_.preempts) {
    return FinishRejection(p);
  }
  p.attempt->failures = d.failures;
  if (process_.reads_preemptor) {
    SetPlace(p, Place::kPreempting);
    actions_->GetPod(Ask(Asked::kPreemptor, &p), *p.pod);
    return;
  }
  PreemptIfEligible(p);
}

void Scheduler::PreemptIfEligible(Pending& p) {
  if (p.pod->tmpl->never_preempts && !AsksOtherPostFilters(*p.pod)) {
    TellOfPreemption(p, "preemption: not eligible due to preemptionPolicy=Never.");
    return FinishRejection(p);
  }
  MakeRoom(p, *p.attempt->failures);
}

// Goes on with the pod as the API server has it (1.19). If it cannot be read, nobody is evicted.
void Scheduler::PreemptorRead(Pending& p, const Answer& a, const api::PodPtr& fresh) {
  if (!a.ok() || fresh == nullptr || fresh->meta.uid != p.pod->meta.uid) {
    log_.NotPreempting(*p.pod, a.ok() ? "the pod is another one now" : std::string_view(a.message));
    return FinishRejection(p);
  }
  PreemptIfEligible(p);
}

// Appends to the message of the failed attempt what came of preemption, where the release says it.
void Scheduler::TellOfPreemption(Pending& p, std::string_view text) {
  if (process_.tells_of_preemption) absl::StrAppend(&p.attempt->rejection.message, " ", std::string(text));
}

// Returns whether plugins besides that for preemption have a say when no node fits. The text of a preemption is then
// all that they say.
bool Scheduler::AsksOtherPostFilters(const api::Pod& pod) const {
  return !profiles_.find(pod.tmpl->scheduler_name)->second->config().release->claims_plugin.empty();
}

// Lets the pod preempt others.
void Scheduler::MakeRoom(Pending& p, const NodeFailures& failures) {
  Attempt& t = *p.attempt;
  const absl::Duration begun = clock_->Steady();
  t.preemption = profiles_.find(p.pod->tmpl->scheduler_name)->second->Preempt(p.pod, failures);
  now_ = clock_->Steady();
  if (options_.observer != nullptr) options_.observer->PreemptionChosen(p.pod, t.preemption);
  ++metrics_.preemption_attempts;
  metrics_.preemption.Observe(now_ - begun);
  ObserveStage(*p.pod, Stage::kPostFilter,
               t.preemption.victims.empty() ? StageStatus::kUnschedulable : StageStatus::kSuccess, now_ - begun);
  metrics_.preemption_victims = static_cast<int64_t>(t.preemption.victims.size());
  if (!t.preemption.victims.empty()) metrics_.victims.Observe(metrics_.preemption_victims);
  if (!t.preemption.error.empty()) {
    log_.NotPreempting(*p.pod, t.preemption.error);
    TellOfPreemption(p, t.preemption.error);
    // A pod that must not preempt now keeps its nomination.
    if (t.preemption.outcome == Preemption::Outcome::kHelpsNowhere) t.rejection.nomination = Symbol();
    return FinishRejection(p);
  }
  if (t.preemption.outcome != Preemption::Outcome::kChosen) {
    if (RoomIsBeingMade(*p.pod)) {
      TellOfPreemption(p, "preemption: not eligible due to a terminating pod on the nominated node.");
    } else {
      t.rejection.nomination = Symbol();
    }
    return FinishRejection(p);
  }
  t.rejection.nomination = t.preemption.node;
  // The nomination counts from now on, so that no pod of lower priority is placed there.
  p.pod = WithNomination(*p.pod, t.preemption.node);
  queue_->nominated()->Add(p.pod);
  SetPlace(p, Place::kPreempting);
  EvictNextVictim(p);
}

// Evicts the victims one after another: first the condition that says why is written, then the pod is deleted. A victim
// that is terminating already is skipped (1.29 deletes it again).
void Scheduler::EvictNextVictim(Pending& p) {
  Attempt& t = *p.attempt;
  const auto& victims = t.preemption.victims;
  while (t.next_victim < victims.size() && victims[t.next_victim]->meta.deleting()) ++t.next_victim;
  if (t.next_victim == victims.size()) {
    for (const api::PodPtr& pod : t.preemption.nominated_to_clear) TakeNomination(*pod);
    return FinishRejection(p);
  }
  if (!process_.marks_victims) return VictimMarked(p, {});
  api::PodCondition target{
      "True", "PreemptionByScheduler",
      absl::StrCat(p.pod->tmpl->scheduler_name.string(), ": preempting to accommodate a higher priority pod"), "",
      Now()};
  actions_->MarkVictim(Ask(Asked::kVictimCondition, &p), victims[t.next_victim], target);
}

void Scheduler::VictimMarked(Pending& p, const Answer& a) {
  const api::PodPtr& victim = p.attempt->preemption.victims[p.attempt->next_victim];
  if (!a.ok() && a.kind != Answer::Kind::kNotFound) return EvictionFailed(p, *victim, a);
  actions_->DeletePod(Ask(Asked::kVictim, &p), victim);
}

void Scheduler::VictimEvicted(Pending& p, const Answer& a) {
  Attempt& t = *p.attempt;
  const api::PodPtr& victim = t.preemption.victims[t.next_victim];
  if (a.ok()) {
    log_.Preempted(*p.pod, *victim, t.preemption.node.str());
    actions_->RecordRelatedEvent(victim, EventType::kNormal, "Preempted",
                                 process_.preempted_note(*p.pod, t.preemption.node.str()), p.pod);
  } else if (a.kind == Answer::Kind::kNotFound || a.kind == Answer::Kind::kConflict) {
    // The victim is gone, or another pod has its name: the deletion has failed because it names the uid.
    if (VLOG_IS_ON(2)) LineAbout("A victim of preemption is gone already", *victim).Info(2);
  } else {
    return EvictionFailed(p, *victim, a);
  }
  ++t.next_victim;
  EvictNextVictim(p);
}

void Scheduler::EvictionFailed(Pending& p, const api::Pod& victim, const Answer& a) {
  log_.VictimNotEvicted(*p.pod, victim, a.message);
  TellOfPreemption(p, absl::StrCat("preemption: preparing pod ", Name(victim), ": ", a.message));
  p.attempt->rejection.nomination.reset();
  p.pod = WithNomination(*p.pod, Symbol());
  queue_->nominated()->Remove(*p.pod);
  FinishRejection(p);
}

// Clears the nomination of a pod of lower priority that was nominated to the same node.
void Scheduler::TakeNomination(const api::Pod& pod) {
  Pending* other = Find(pod);
  queue_->nominated()->Remove(pod);
  const api::PodPtr newest = other != nullptr ? other->pod : std::make_shared<api::Pod>(pod);
  if (newest->nominated_node_name.empty()) return;
  if (other != nullptr) {
    other->pod = WithNomination(*newest, Symbol());
    other->nomination.reset();
    if (other->place == Place::kQueued) queue_->Update(other->pod, false, now_);
  }
  actions_->PatchPodStatus(Ask(Asked::kLateCondition, nullptr, Name(pod)), newest, {}, Symbol());
}

// Ends the attempt: records the event, writes condition and nomination where they differ from what the API server has,
// and puts the pod back into the queue.
void Scheduler::FinishRejection(Pending& p) {
  const Rejection r = std::move(p.attempt->rejection);
  p.attempt.reset();
  log_.AttemptFailed(*p.pod, r.why, r.message);
  actions_->RecordEvent(p.pod, EventType::kWarning, "FailedScheduling", r.message);
  const auto& had = p.pod->scheduled;
  api::PodCondition c{"False", std::string(r.reason), r.message, "", ""};
  if (had && had->status == c.status) {
    c.last_transition_time = had->last_transition_time;
  } else {
    c.last_transition_time = Now();
  }
  const bool same = had && had->status == c.status && had->reason == c.reason && had->message == c.message;
  std::optional<Symbol> nomination;
  if (r.nomination && p.written_nomination != *r.nomination) nomination = r.nomination;
  if (!same || nomination) {
    log_.UpdatingCondition(*p.pod, r.reason);
    actions_->PatchPodStatus(Ask(Asked::kStatusPatch, nullptr, p.pod->meta.uid), p.pod,
                             same ? std::nullopt : std::optional(c), nomination);
  }
  if (nomination) {
    p.nomination = {util::SharedSymbol(*nomination), ""};
    p.written_nomination = *nomination;
    p.pod = WithNomination(*p.pod, *nomination);
  }
  if (p.changed) {
    p.changed = false;
    return Enqueue(p);
  }
  if (std::exchange(p.unsupported, false) && BlockingFieldsOf(p).any()) return SetPlace(p, Place::kUnsupported);
  SetPlace(p, Place::kQueued);
  queue_->AddRejected(p.pod, p.why, r.plugins, p.cycle, now_);
}

std::string Scheduler::Now() const {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", clock_->Wall(), absl::UTCTimeZone());
}

// Handles the answer to the patch of FinishRejection. The nomination that was written counts until the watch shows the
// version of the pod that the answer names.
void Scheduler::StatusPatched(const std::string& uid, const Reply& r) {
  auto it = pending_.find(uid);
  if (!r.answer.ok()) {
    const bool known = it != pending_.end();
    log_.StatusNotUpdated(known ? it->second->pod->meta.ns.str() : "", known ? it->second->pod->meta.name : uid,
                          r.answer.message);
    if (known) it->second->nomination.reset();
    return;
  }
  if (it == pending_.end() || r.pod == nullptr || r.pod->meta.uid != uid) return;
  if (it->second->nomination) it->second->nomination->second = r.pod->meta.resource_version;
}

}  // namespace berth::scheduler
