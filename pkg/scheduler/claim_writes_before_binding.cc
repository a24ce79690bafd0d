// From release 1.13 on, a pod whose claims have no volumes yet stays assumed on its node while volumes and claims are
// written one after another; then it waits until all of its claims are bound, and is bound itself (1.29: plugin
// VolumeBinding, Reserve and PreBind).
#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <utility>

#include "pkg/scheduler/claim_writes.h"
#include "pkg/util/contract.h"
#include "pkg/util/status.h"

namespace berth::scheduler {
namespace {

using Place = PendingPlace;

// The default of bindTimeoutSeconds of the plugin VolumeBinding.
constexpr absl::Duration kBindTimeout = absl::Minutes(10);

class BeforeBindingWrites : public ClaimWrites {
 public:
  BeforeBindingWrites(SchedulingState* state, AfterFailure* failures, std::function<void(PendingPod&)> bind)
      : s_(*state),
        pending_(state->pending),
        failures_(*failures),
        binder_(*state->options.claim_binder),
        bind_(std::move(bind)) {}

  bool BeforeAssuming(PendingPod&, const api::PodPtr&) override { return true; }
  bool AfterAssuming(PendingPod& p) override;
  void Written(PendingPod& p, const Answer& a) override;
  void TimeUp(PendingPod& p) override { WaitFailed(p, s_.process.volume_failure.timeout); }
  void VolumeChanged(const Change<api::PersistentVolume>& c) override {
    binder_.VolumeChanged((c.after ? c.after : c.before)->meta.name);
    for (const auto& v : {c.before, c.after}) {
      if (v != nullptr && v->claim_ref) LookAtUsersOf(absl::StrCat(v->claim_ref->ns, "/", v->claim_ref->name));
    }
  }
  void ClaimChanged(const Change<api::PersistentVolumeClaim>& c) override {
    const api::ObjectMeta& meta = (c.after ? c.after : c.before)->meta;
    binder_.ClaimChanged(meta.ns, meta.name);
    LookAtUsersOf(meta.Key());
  }
  void AfterClaimEvent(const Change<api::PersistentVolumeClaim>&) override {}  // the event wakes whom it concerns

 private:
  void WriteNext(PendingPod& p);
  void LookAtClaims(PendingPod& p);
  void LookAtUsersOf(const std::string& claim) {
    for (PendingPod* p : pending_.UsersOf(claim)) {
      if (p->place == Place::kWritingVolumes) LookAtClaims(*p);
    }
  }
  void WaitFailed(PendingPod& p, std::string_view error) {
    Fail(p, absl::StrCat(util::ToAbsl(s_.process.volume_failure.before_wait), util::ToAbsl(error)));
  }
  void Fail(PendingPod& p, const std::string& error);

  SchedulingState& s_;
  PendingTable& pending_;
  AfterFailure& failures_;
  ClaimBinder& binder_;
  std::function<void(PendingPod&)> bind_;
};

// Reserves the volumes for a pod that was assumed on a node and starts the writes. Returns true when there is nothing
// to write, so that the pod can be bound at once.
bool BeforeBindingWrites::AfterAssuming(PendingPod& p) {
  VolumeMetrics& m = s_.metrics.volumes;
  if (p.pod->tmpl->volumes.empty()) {
    m.assume.took.Observe(absl::ZeroDuration());
    return true;
  }
  Attempt& t = *p.attempt;
  const Row row = s_.cache->FindRow(t.assumed->node_name);
  const absl::Duration begun = s_.now;
  t.reserved = binder_.Assume(*t.assumed, *s_.cache->row(row).node);
  m.assume.took.Observe(s_.clock->Steady() - begun);
  if (t.reserved.error.empty() && t.reserved.nothing()) return true;
  pending_.SetPlace(p, Place::kWritingVolumes);
  ++(t.reserved.error.empty() ? m.reserved : m.assume.errors);
  if (t.reserved.error.empty()) t.volumes_begun = begun;
  if (!t.reserved.error.empty()) {
    Fail(p, absl::StrCat("running Reserve plugin \"VolumeBinding\": ", t.reserved.error));
    return false;
  }
  if (s_.process.nominates_before_volumes && t.reserved.error.empty() && p.written_nomination != t.assumed->node_name) {
    s_.actions->PatchPodStatus(pending_.Ask(RequestKind::kLateCondition, nullptr, Name(*p.pod)), p.pod, {},
                               t.assumed->node_name);
    p.written_nomination = t.assumed->node_name;
  }
  WriteNext(p);
  return false;
}

void BeforeBindingWrites::WriteNext(PendingPod& p) {
  Attempt& t = *p.attempt;
  const size_t next = t.next_volume, bindings = t.reserved.bindings.size();
  if (next < bindings) {
    const ClaimBinder::Assumed::Binding& b = t.reserved.bindings[next];
    s_.actions->UpdateVolume(pending_.Ask(RequestKind::kVolume, &p),
                             {b.claim, b.before, !b.before->claim_ref.has_value()});
  } else if (next < bindings + t.reserved.provisions.size()) {
    s_.actions->UpdateClaim(pending_.Ask(RequestKind::kVolume, &p), t.reserved.provisions[next - bindings]);
  } else {
    if (VLOG_IS_ON(3)) LineAbout("Waiting until the claims of a pod are bound", *p.pod).Info(3);
    const auto limit = s_.options.volume_bind_timeouts.find(p.pod->tmpl->scheduler_name);
    pending_.Wait(p, s_.now + (limit == s_.options.volume_bind_timeouts.end() ? kBindTimeout : limit->second));
    LookAtClaims(p);
  }
}

void BeforeBindingWrites::Written(PendingPod& p, const Answer& a) {
  if (!a.ok()) return Fail(p, absl::StrCat(util::ToAbsl(s_.process.volume_failure.before_error), a.message));
  const Attempt& t = *p.attempt;
  if (t.next_volume < t.reserved.bindings.size()) {
    const ClaimBinder::Assumed::Binding& b = t.reserved.bindings[t.next_volume];
    s_.log.VolumeClaimed(*p.pod, *b.before, *b.claim);
  }
  ++p.attempt->next_volume;
  WriteNext(p);
}

// Binds the pod if all claims that were written for it are bound by now, and fails the attempt if one of them cannot be
// bound any more. Does nothing before all writes are done.
void BeforeBindingWrites::LookAtClaims(PendingPod& p) {
  const Attempt& t = *p.attempt;
  if (t.next_volume < t.reserved.bindings.size() + t.reserved.provisions.size()) return;
  std::string error;
  const bool completed = binder_.Completed(t.reserved, t.assumed->node_name, &error);
  if (!error.empty()) return WaitFailed(p, error);
  if (!completed) return;
  s_.log.VolumesBound(*p.pod);
  s_.metrics.volumes.bind.took.Observe(s_.now - t.volumes_begun.value_or(s_.now));
  ++s_.metrics.volumes.released;
  pending_.StopWaiting(p);
  bind_(p);
}

void BeforeBindingWrites::Fail(PendingPod& p, const std::string& error) {
  ++s_.metrics.errors;
  s_.CountAttempt(*p.pod, AttemptResult::kError, s_.now - p.attempt->begun);
  s_.log.VolumesFailed(*p.attempt->assumed, error);
  if (p.attempt->volumes_begun) {
    s_.ObserveStage(*p.pod, Stage::kPreBind, StageStatus::kError, s_.now - *p.attempt->volumes_begun);
    s_.metrics.volumes.bind.took.Observe(s_.now - *p.attempt->volumes_begun);
    ++s_.metrics.volumes.bind.errors;
    ++s_.metrics.volumes.released;
  }
  pending_.StopWaiting(p);
  binder_.Forget(p.attempt->reserved);
  s_.ForgetAssumed(p.attempt->assumed);
  p.attempt.reset();
  const VolumeFailure& texts = s_.process.volume_failure;
  failures_.Fail(p, {.event = error,
                     .reason = texts.condition_reason,
                     .message = texts.in_condition ? error : "",
                     .keeps_nomination = texts.keeps_nomination});
}

}  // namespace

std::unique_ptr<ClaimWrites> ClaimWritesBeforeBinding(SchedulingState* state, AfterFailure* failures,
                                                      std::function<void(PendingPod&)> bind) {
  BERTH_REQUIRES(state->options.claim_binder != nullptr);
  return std::make_unique<BeforeBindingWrites>(state, failures, std::move(bind));
}

}  // namespace berth::scheduler
