// How release 1.29 binds a pod whose claims have no volumes yet (plugin VolumeBinding, Reserve and PreBind). The pod
// stays assumed on its node while volumes and claims are written one after another; then it waits until all of its
// claims are bound, and is bound itself. In 1.10 the attempt ends after the writes (scheduler_attempt.cc).
#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <algorithm>

#include "pkg/scheduler/scheduler_internal.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

// The default of bindTimeoutSeconds of the plugin VolumeBinding.
constexpr absl::Duration kBindTimeout = absl::Minutes(10);

constexpr char kPreBind[] = "running PreBind plugin \"VolumeBinding\": ";

}  // namespace

// Reserves the volumes for a pod that was assumed on a node and starts the writes. Returns true when there is nothing
// to write, so that the pod can be bound at once.
bool Scheduler::ReserveVolumes(Pending& p) {
  ClaimBinder* binder = options_.claim_binder;
  if (binder == nullptr || p.pod->tmpl->volumes.empty()) return true;
  Attempt& t = *p.attempt;
  const Row row = cache_->FindRow(t.assumed->node_name);
  const absl::Duration begun = now_;
  t.reserved = binder->Assume(*t.assumed, *cache_->row(row).node);
  if (t.reserved.error.empty() && t.reserved.nothing()) return true;
  SetPlace(p, Place::kWritingVolumes);
  if (t.reserved.error.empty()) t.volumes_begun = begun;
  if (!t.reserved.error.empty()) {
    ReservationFailed(p, absl::StrCat("running Reserve plugin \"VolumeBinding\": ", t.reserved.error));
    return false;
  }
  if (process_.nominates_before_volumes && t.reserved.error.empty() && p.written_nomination != t.assumed->node_name) {
    actions_->PatchPodStatus(Ask(Asked::kLateCondition, nullptr, Name(*p.pod)), p.pod, {}, t.assumed->node_name);
    p.written_nomination = t.assumed->node_name;
  }
  WriteNextReservation(p);
  return false;
}

void Scheduler::WriteNextReservation(Pending& p) {
  Attempt& t = *p.attempt;
  const size_t next = t.next_volume, bindings = t.reserved.bindings.size();
  if (next < bindings) {
    const ClaimBinder::Assumed::Binding& b = t.reserved.bindings[next];
    actions_->UpdateVolume(Ask(Asked::kReservation, &p), {b.claim, b.before, !b.before->claim_ref.has_value()});
  } else if (next < bindings + t.reserved.provisions.size()) {
    actions_->UpdateClaim(Ask(Asked::kReservation, &p), t.reserved.provisions[next - bindings]);
  } else {
    if (VLOG_IS_ON(3)) LineAbout("Waiting until the claims of a pod are bound", *p.pod).Info(3);
    const auto limit = options_.volume_bind_timeouts.find(p.pod->tmpl->scheduler_name);
    Wait(p, now_ + (limit == options_.volume_bind_timeouts.end() ? kBindTimeout : limit->second));
    LookAtClaims(p);
  }
}

void Scheduler::ReservationWritten(Pending& p, const Answer& a) {
  if (!a.ok()) return ReservationFailed(p, absl::StrCat(kPreBind, a.message));
  const Attempt& t = *p.attempt;
  if (t.next_volume < t.reserved.bindings.size()) {
    const ClaimBinder::Assumed::Binding& b = t.reserved.bindings[t.next_volume];
    log_.VolumeClaimed(*p.pod, *b.before, *b.claim);
  }
  ++p.attempt->next_volume;
  WriteNextReservation(p);
}

// Binds the pod if all claims that were written for it are bound by now, and fails the attempt if one of them cannot be
// bound any more. Does nothing before all writes are done.
void Scheduler::LookAtClaims(Pending& p) {
  const Attempt& t = *p.attempt;
  if (t.next_volume < t.reserved.bindings.size() + t.reserved.provisions.size()) return;
  std::string error;
  const bool completed = options_.claim_binder->Completed(t.reserved, t.assumed->node_name, &error);
  if (!error.empty()) return ReservationFailed(p, absl::StrCat(kPreBind, "binding volumes: ", error));
  if (!completed) return;
  log_.VolumesBound(*p.pod);
  StopWaiting(p);
  StartBind(p);
}

void Scheduler::ReservedClaimChanged(const std::string& key) {
  const auto users = by_claim_.find(key);
  if (users == by_claim_.end()) return;
  const std::vector<Pending*> pods(users->second.begin(), users->second.end());
  for (Pending* p : pods) {
    if (p->place == Place::kWritingVolumes) LookAtClaims(*p);
  }
}

void Scheduler::ReservationTimedOut(Pending& p) {
  ReservationFailed(p, absl::StrCat(kPreBind, "binding volumes: context deadline exceeded"));
}

void Scheduler::ReservationFailed(Pending& p, const std::string& error) {
  ++metrics_.errors;
  CountAttempt(*p.pod, AttemptResult::kError, now_ - p.attempt->begun);
  log_.VolumesFailed(*p.attempt->assumed, error);
  if (p.attempt->volumes_begun) {
    ObserveStage(*p.pod, Stage::kPreBind, StageStatus::kError, now_ - *p.attempt->volumes_begun);
  }
  StopWaiting(p);
  const api::PodPtr assumed = p.attempt->assumed;
  options_.claim_binder->Forget(p.attempt->reserved);
  p.attempt->reserved = {};
  if (cache_->IsAssumed(assumed->meta.uid)) {
    if (auto s = cache_->ForgetPod(*assumed); !s.ok()) log_.CacheFailed("ForgetPod", *assumed, util::Message(s));
    Happened(ClusterEvent::Kind::kAssignedPodDelete, assumed.get());  // other pods may fit the node now
  }
  p.why = Requeue::kRetry;
  p.attempt->rejection = {.message = error, .reason = "SchedulerError", .plugins = {}, .nomination = {}};
  FinishRejection(p);
}

}  // namespace berth::scheduler
