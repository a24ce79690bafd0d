// Until release 1.12, volumes are written one after another before the pod is assumed. Then the attempt ends, and the
// pod is tried again when its claims are bound.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "pkg/scheduler/claim_writes.h"

namespace berth::scheduler {
namespace {

using Place = PendingPlace;

bool UsesClaims(const api::Pod& pod) {
  return std::any_of(pod.tmpl->volumes.begin(), pod.tmpl->volumes.end(),
                     [](const api::Volume& v) { return v.kind == api::Volume::Kind::kClaim; });
}

// Returns whether Kubernetes' volume controller regards the claim as bound: both sides of the binding are written.
bool IsBound(const api::PersistentVolumeClaim& claim) {
  return !claim.volume_name.empty() && claim.bind_completed;
}

class BeforeAssumingWrites : public ClaimWrites {
 public:
  BeforeAssumingWrites(SchedulingState* state, AfterFailure* failures)
      : s_(*state), pending_(state->pending), failures_(*failures) {}

  bool BeforeAssuming(PendingPod& p, const api::PodPtr& assumed) override;
  bool AfterAssuming(PendingPod&) override { return true; }
  void Written(PendingPod& p, const Answer& a) override;
  void TimeUp(PendingPod&) override {}
  void VolumeChanged(const Change<api::PersistentVolume>& c) override {
    if (s_.volume_binder != nullptr) s_.volume_binder->VolumeChanged((c.after ? c.after : c.before)->meta.name);
  }
  void ClaimChanged(const Change<api::PersistentVolumeClaim>&) override {}
  void AfterClaimEvent(const Change<api::PersistentVolumeClaim>& c) override {
    if (c.after != nullptr && IsBound(*c.after) && (c.before == nullptr || !IsBound(*c.before))) ClaimBound(*c.after);
  }

 private:
  void WriteNextVolume(PendingPod& p);
  void ClaimBound(const api::PersistentVolumeClaim& claim);

  SchedulingState& s_;
  PendingTable& pending_;
  AfterFailure& failures_;
};

// Returns true when all claims are bound already, so that the pod can be assumed and bound now.
bool BeforeAssumingWrites::BeforeAssuming(PendingPod& p, const api::PodPtr& assumed) {
  if (s_.volume_binder == nullptr || !UsesClaims(*p.pod)) return true;
  const Row row = s_.cache->FindRow(assumed->node_name);
  VolumeBinder::Assumed v = s_.volume_binder->AssumePodVolumes(*assumed, *s_.cache->row(row).node);
  if (!v.error.empty()) {
    ++s_.metrics.errors;
    s_.log.AttemptFailed(*assumed, SchedulerLog::Failure::kError, v.error);
    p.attempt.reset();
    failures_.Fail(
        p,
        {.event = absl::StrCat("AssumePodVolumes failed: ", v.error), .reason = "SchedulerError", .message = v.error});
    return false;
  }
  if (v.all_bound) return true;
  p.attempt->volumes = std::move(v.to_write);
  pending_.SetPlace(p, Place::kWritingVolumes);
  WriteNextVolume(p);
  return false;
}

// Writes the next volume. After the last one the attempt ends as failed. The pod is tried again after its back-off, or
// as soon as the volume controller has bound its claims.
void BeforeAssumingWrites::WriteNextVolume(PendingPod& p) {
  Attempt& t = *p.attempt;
  if (t.next_volume < t.volumes.size()) {
    s_.actions->UpdateVolume(pending_.Ask(RequestKind::kVolume, &p), t.volumes[t.next_volume]);
    return;
  }
  p.attempt.reset();
  failures_.Fail(p, {.event_type = EventType::kNormal,
                     .event = "Volume binding started, waiting for completion",
                     .reason = "VolumeBindingWaiting"});
}

void BeforeAssumingWrites::Written(PendingPod& p, const Answer& a) {
  Attempt& t = *p.attempt;
  if (a.ok()) {
    ++t.next_volume;
    return WriteNextVolume(p);
  }
  s_.log.VolumesFailed(*p.attempt->assumed, a.message);
  t.volumes.erase(t.volumes.begin(), t.volumes.begin() + static_cast<std::ptrdiff_t>(t.next_volume));
  s_.volume_binder->Forget(t.volumes);
  p.attempt.reset();
  failures_.Fail(p, {.event = a.message, .reason = "VolumeBindingFailed"});
}

// Lets the pods be tried again whose claims are all bound now: their back-off was for the claim.
void BeforeAssumingWrites::ClaimBound(const api::PersistentVolumeClaim& claim) {
  for (PendingPod* p : pending_.UsersOf(claim.meta.Key())) {
    const bool all_bound = std::all_of(p->claims.begin(), p->claims.end(), [&](const std::string& key) {
      const auto other = s_.cache->listers().claims.Get(p->pod->meta.ns, key.substr(key.find('/') + 1));
      return other != nullptr && IsBound(*other);
    });
    if (!all_bound) continue;
    s_.backoff.Reset(Name(*p->pod));
    s_.TryAgainNow(*p);
  }
}

}  // namespace

std::unique_ptr<ClaimWrites> ClaimWritesBeforeAssuming(SchedulingState* state, AfterFailure* failures) {
  return std::make_unique<BeforeAssumingWrites>(state, failures);
}

}  // namespace berth::scheduler
