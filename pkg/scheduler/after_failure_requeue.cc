// What follows a failed attempt from release 1.19 on: preemption is part of the attempt, event and condition are
// written at the same time, and the pod goes back into the queue without waiting for these writes and without being
// read again.
#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "pkg/scheduler/after_failure.h"

namespace berth::scheduler {
namespace {

using Place = PendingPlace;

// Returns the message as the note of an event, of which API servers take 1,024 bytes. It is not cut inside a character.
std::string AsNote(std::string message) {
  constexpr size_t kLongest = 1024;
  constexpr std::string_view kCut = " ...";
  if (message.size() <= kLongest) return message;
  size_t size = kLongest - kCut.size();
  while (size > 0 && (static_cast<unsigned char>(message[size]) & 0xC0) == 0x80) --size;
  message.resize(size);
  return absl::StrCat(message, std::string(kCut));
}

class RequeueAfterFailure : public AfterFailure {
 public:
  explicit RequeueAfterFailure(SchedulingState* state) : s_(*state), pending_(state->pending) {}

  void NotPlaced(PendingPod& p, std::unique_ptr<Attempt> attempt, const Decision& d) override;
  void Fail(PendingPod& p, AttemptFailure f) override;
  void Replied(const Request& request, const Reply& r) override;
  void TimeUp(PendingPod& p) override { s_.Enqueue(p); }

 private:
  void PreemptIfEligible(PendingPod& p);
  void PreemptorRead(PendingPod& p, const Answer& a, const api::PodPtr& fresh);
  void TellOfPreemption(PendingPod& p, std::string_view text);
  void MakeRoom(PendingPod& p, const NodeFailures& failures);
  void EvictNextVictim(PendingPod& p);
  void VictimMarked(PendingPod& p, const Answer& a);
  void VictimEvicted(PendingPod& p, const Answer& a);
  void EvictionFailed(PendingPod& p, const api::Pod& victim, const Answer& a);
  void ObserveEvictions(const Attempt& t, bool succeeded);
  void TakeNomination(const api::Pod& pod);
  void Finish(PendingPod& p);
  void StatusPatched(const std::string& uid, const Reply& r);

  SchedulingState& s_;
  PendingTable& pending_;
};

void RequeueAfterFailure::NotPlaced(PendingPod& p, std::unique_ptr<Attempt> attempt, const Decision& d) {
  Rejection r{
      .message = d.error, .reason = "Unschedulable", .why = WhyFailed(d), .plugins = d.rejected_by, .nomination = {}};
  const bool unfit = d.outcome == Decision::Outcome::kUnfit;
  if (d.outcome == Decision::Outcome::kError) {
    s_.log.NoDecision(*p.pod, d.error);
    r.reason = s_.process.error_reason;
  }
  if (!unfit && s_.process.errors_end_nominations) r.nomination = Symbol();
  attempt->rejection = std::move(r);
  p.attempt = std::move(attempt);
  const bool preempts = s_.options.pod_priority && s_.options.preempts && s_.AlgorithmOf(*p.pod).config().preempts;
  if (!unfit || d.failures == nullptr || !preempts) return Finish(p);
  p.attempt->failures = d.failures;
  p.attempt->decided_at = s_.cache->generation();
  if (s_.process.reads_preemptor) {
    pending_.SetPlace(p, Place::kPreempting);
    s_.actions->GetPod(pending_.Ask(RequestKind::kPreemptor, &p), *p.pod);
    return;
  }
  PreemptIfEligible(p);
}

void RequeueAfterFailure::Fail(PendingPod& p, AttemptFailure f) {
  p.why = f.why;
  p.attempt = std::make_unique<Attempt>();
  p.attempt->rejection = {.message = std::move(f.event),
                          .reason = f.reason,
                          .why = f.not_found                        ? SchedulerLog::Failure::kNotFound
                                 : f.why == Requeue::kUnschedulable ? SchedulerLog::Failure::kUnfit
                                                                    : SchedulerLog::Failure::kError,
                          .plugins = {},
                          .nomination = {}};
  if (s_.process.errors_end_nominations && !f.keeps_nomination) p.attempt->rejection.nomination = Symbol();
  Finish(p);
}

void RequeueAfterFailure::Replied(const Request& request, const Reply& r) {
  switch (request.kind) {
    case RequestKind::kPreemptor:
      return PreemptorRead(*request.pod, r.answer, r.pod);
    case RequestKind::kVictim:
      return VictimEvicted(*request.pod, r.answer);
    case RequestKind::kVictimCondition:
      return VictimMarked(*request.pod, r.answer);
    case RequestKind::kStatusPatch:
      return StatusPatched(request.what, r);
    case RequestKind::kLateCondition:
      if (!r.answer.ok()) {
        LOG(WARNING) << "Cannot update the nomination of pod " << request.what << ": " << r.answer.message;
      }
      return;
    default:
      LOG(DFATAL) << "a reply to a request that was never made after a failure";
  }
}

void RequeueAfterFailure::PreemptIfEligible(PendingPod& p) {
  // Where other plugins besides that for preemption have a say, the text of a preemption is all that they say.
  if (p.pod->tmpl->never_preempts && s_.AlgorithmOf(*p.pod).config().release->claims_plugin.empty()) {
    TellOfPreemption(p, "preemption: not eligible due to preemptionPolicy=Never.");
    return Finish(p);
  }
  MakeRoom(p, *p.attempt->failures);
}

// Goes on with the pod as the API server has it (1.19). If it cannot be read, nobody is evicted.
void RequeueAfterFailure::PreemptorRead(PendingPod& p, const Answer& a, const api::PodPtr& fresh) {
  if (!a.ok() || fresh == nullptr || fresh->meta.uid != p.pod->meta.uid) {
    s_.log.NotPreempting(*p.pod, a.ok() ? "the pod is another one now" : std::string_view(a.message),
                         /*failed=*/true);
    return Finish(p);
  }
  PreemptIfEligible(p);
}

// Appends to the message of the failed attempt what came of preemption, where the release says it.
void RequeueAfterFailure::TellOfPreemption(PendingPod& p, std::string_view text) {
  if (s_.process.tells_of_preemption) absl::StrAppend(&p.attempt->rejection.message, " ", std::string(text));
}

// Lets the pod preempt others.
void RequeueAfterFailure::MakeRoom(PendingPod& p, const NodeFailures& failures) {
  Attempt& t = *p.attempt;
  s_.ChoosePreemption(p, failures);
  if (!t.preemption.error.empty()) {
    s_.log.NotPreempting(*p.pod, t.preemption.error, t.preemption.outcome == Preemption::Outcome::kFailed);
    TellOfPreemption(p, t.preemption.error);
    // A pod that must not preempt now keeps its nomination.
    if (t.preemption.outcome == Preemption::Outcome::kHelpsNowhere) t.rejection.nomination = Symbol();
    return Finish(p);
  }
  if (t.preemption.outcome != Preemption::Outcome::kChosen) {
    if (s_.RoomIsBeingMade(*p.pod)) {
      TellOfPreemption(p, "preemption: not eligible due to a terminating pod on the nominated node.");
    } else {
      t.rejection.nomination = Symbol();
    }
    return Finish(p);
  }
  t.rejection.nomination = t.preemption.node;
  // The nomination counts from now on, so that no pod of lower priority is placed there.
  p.pod = WithNomination(*p.pod, t.preemption.node);
  s_.queue->nominated()->Add(p.pod);
  pending_.SetPlace(p, Place::kPreempting);
  const auto& victims = t.preemption.victims;
  if (std::any_of(victims.begin(), victims.end(), [](const api::PodPtr& v) { return !v->meta.deleting(); })) {
    t.evictions_begun = s_.now;
  }
  EvictNextVictim(p);
}

void RequeueAfterFailure::ObserveEvictions(const Attempt& t, bool succeeded) {
  if (!s_.process.measures_events || !t.evictions_begun) return;
  s_.metrics.evictions[succeeded ? 1 : 0].Observe(s_.now - *t.evictions_begun);
}

// Evicts the victims one after another: first the condition that says why is written, then the pod is deleted. A victim
// that is terminating already is skipped (1.29 deletes it again).
void RequeueAfterFailure::EvictNextVictim(PendingPod& p) {
  if (p.gone) return s_.Erase(p);
  Attempt& t = *p.attempt;
  const auto& victims = t.preemption.victims;
  while (t.next_victim < victims.size() && victims[t.next_victim]->meta.deleting()) ++t.next_victim;
  if (t.next_victim == victims.size()) {
    for (const api::PodPtr& pod : t.preemption.nominated_to_clear) TakeNomination(*pod);
    ObserveEvictions(t, true);
    return Finish(p);
  }
  if (!s_.process.marks_victims) return VictimMarked(p, {});
  api::PodCondition target{
      "True", "PreemptionByScheduler",
      absl::StrCat(p.pod->tmpl->scheduler_name.string(), ": preempting to accommodate a higher priority pod"), "",
      s_.WallTime()};
  s_.actions->MarkVictim(pending_.Ask(RequestKind::kVictimCondition, &p), victims[t.next_victim], target);
}

void RequeueAfterFailure::VictimMarked(PendingPod& p, const Answer& a) {
  const api::PodPtr& victim = p.attempt->preemption.victims[p.attempt->next_victim];
  if (!a.ok() && a.kind != Answer::Kind::kNotFound) return EvictionFailed(p, *victim, a);
  s_.actions->DeletePod(pending_.Ask(RequestKind::kVictim, &p), victim);
}

void RequeueAfterFailure::VictimEvicted(PendingPod& p, const Answer& a) {
  Attempt& t = *p.attempt;
  const api::PodPtr& victim = t.preemption.victims[t.next_victim];
  if (a.ok()) {
    s_.log.Preempted(*p.pod, *victim, t.preemption.node.str());
    s_.actions->RecordRelatedEvent(victim, EventType::kNormal, "Preempted",
                                   s_.process.preempted_note(*p.pod, t.preemption.node.str()), p.pod);
  } else if (a.kind == Answer::Kind::kNotFound || a.kind == Answer::Kind::kConflict) {
    // The victim is gone, or another pod has its name: the deletion has failed because it names the uid.
    if (VLOG_IS_ON(2)) LineAbout("A victim of preemption is gone already", *victim).Info(2);
  } else {
    return EvictionFailed(p, *victim, a);
  }
  ++t.next_victim;
  EvictNextVictim(p);
}

void RequeueAfterFailure::EvictionFailed(PendingPod& p, const api::Pod& victim, const Answer& a) {
  s_.log.VictimNotEvicted(*p.pod, victim, a.message);
  ObserveEvictions(*p.attempt, false);
  if (p.gone) return s_.Erase(p);
  TellOfPreemption(p, absl::StrCat("preemption: preparing pod ", Name(victim), ": ", a.message));
  p.attempt->rejection.nomination.reset();
  p.pod = WithNomination(*p.pod, Symbol());
  s_.queue->nominated()->Remove(*p.pod);
  Finish(p);
}

// Clears the nomination of a pod of lower priority that was nominated to the same node.
void RequeueAfterFailure::TakeNomination(const api::Pod& pod) {
  PendingPod* other = pending_.Find(pod);
  s_.queue->nominated()->Remove(pod);
  const api::PodPtr newest = other != nullptr ? other->pod : std::make_shared<api::Pod>(pod);
  if (newest->nominated_node_name.empty()) return;
  if (other != nullptr) {
    other->pod = WithNomination(*newest, Symbol());
    other->nomination.reset();
    if (other->place == Place::kQueued) s_.queue->Update(other->pod, false, s_.now);
  }
  s_.NominationEnded(newest);
  s_.actions->PatchPodStatus(pending_.Ask(RequestKind::kLateCondition, nullptr, Name(pod)), newest, {}, Symbol());
}

// Ends the attempt: records the event, writes condition and nomination where they differ from what the API server has,
// and puts the pod back into the queue.
void RequeueAfterFailure::Finish(PendingPod& p) {
  Rejection r = std::move(p.attempt->rejection);
  p.attempt.reset();
  s_.log.AttemptFailed(*p.pod, r.why, r.message);
  const auto& had = p.pod->scheduled;
  // A pod that waits has the condition already.
  std::optional<api::PodCondition> c;
  if (!had || had->status != "False" || had->reason != r.reason || had->message != r.message) {
    const bool was_false = had && had->status == "False";
    c = {"False", std::string(r.reason), r.message, "", was_false ? had->last_transition_time : s_.WallTime()};
  }
  s_.actions->RecordEvent(p.pod, EventType::kWarning, "FailedScheduling", AsNote(std::move(r.message)));
  std::optional<Symbol> nomination;
  if (r.nomination && p.written_nomination != *r.nomination) nomination = r.nomination;
  if (c || nomination) {
    s_.log.UpdatingCondition(*p.pod, r.reason);
    s_.actions->PatchPodStatus(pending_.Ask(RequestKind::kStatusPatch, nullptr, p.pod->meta.uid), p.pod, c, nomination);
  }
  if (nomination) {
    p.nomination = {util::SharedSymbol(*nomination), ""};
    p.written_nomination = *nomination;
    p.pod = WithNomination(*p.pod, *nomination);
  }
  if (p.changed) {
    p.changed = false;
    return s_.Enqueue(p);
  }
  if (std::exchange(p.unsupported, false) && s_.fields.BlockingOf(p).any())
    return pending_.SetPlace(p, Place::kUnsupported);
  pending_.SetPlace(p, Place::kQueued);
  s_.queue->AddRejected(p.pod, p.why, r.plugins, p.cycle, s_.now);
}

// Handles the answer to the patch of Finish. The nomination that was written counts until the watch shows the
// version of the pod that the answer names.
void RequeueAfterFailure::StatusPatched(const std::string& uid, const Reply& r) {
  PendingPod* p = pending_.Find(uid);
  if (!r.answer.ok()) {
    s_.log.StatusNotUpdated(p != nullptr ? p->pod->meta.ns.str() : "", p != nullptr ? p->pod->meta.name : uid,
                            r.answer.message);
    if (p != nullptr) p->nomination.reset();
    return;
  }
  if (p == nullptr || r.pod == nullptr || r.pod->meta.uid != uid) return;
  if (p->nomination) p->nomination->second = r.pod->meta.resource_version.str();
}

}  // namespace

std::unique_ptr<AfterFailure> NewRequeueAfterFailure(SchedulingState* state) {
  return std::make_unique<RequeueAfterFailure>(state);
}

}  // namespace berth::scheduler
