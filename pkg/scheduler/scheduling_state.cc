#include "pkg/scheduler/scheduling_state.h"

#include <absl/time/clock.h>

#include <algorithm>
#include <utility>

#include "pkg/util/contract.h"
#include "pkg/util/status.h"

namespace berth::scheduler {

SchedulingState::SchedulingState(Cache* of_cache, SchedulingQueue* of_queue, VolumeBinder* of_volumes,
                                 Actions* of_actions, const util::Clock* of_clock, SchedulerOptions given)
    : cache(of_cache),
      queue(of_queue),
      volume_binder(of_volumes),
      actions(of_actions),
      clock(of_clock),
      options(std::move(given)),
      process((BERTH_REQUIRES(options.process != nullptr), *options.process)),
      log(*process.log),
      now(clock->Steady()),
      pending(&metrics),
      fields(options.understood_fields, options.ignore_unknown_fields, cache, &profiles, &metrics),
      backoff(options.initial_backoff, options.max_backoff) {
  BERTH_REQUIRES(options.pod_priority == (queue->nominated() != nullptr));
}

std::string SchedulingState::WallTime() const {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", clock->Wall(), absl::UTCTimeZone());
}

void SchedulingState::Enqueue(PendingPod& p) {
  pending.StopWaiting(p);
  if (!p.pod->tmpl->scheduling_gates.empty() && !AlgorithmOf(*p.pod).config().passes_gates) {
    pending.SetPlace(p, PendingPlace::kGated);
    log.Gated(*p.pod);
    return;
  }
  pending.SetPlace(p, PendingPlace::kQueued);
  queue->Add(p.pod);
}

void SchedulingState::TryAgainNow(PendingPod& p) {
  switch (p.place) {
    case PendingPlace::kQueued:
      queue->Update(p.pod, true, now);
      break;
    case PendingPlace::kBackoff:
    case PendingPlace::kRefetching:
      pending.CancelRequest(p);
      Enqueue(p);
      break;
    case PendingPlace::kWritingStatus:
    case PendingPlace::kPreempting:
      p.changed = true;  // it is added as ready when it goes back into the queue
      break;
    default:
      break;
  }
}

void SchedulingState::TryUnsupportedClaims() {
  for (PendingPod* p : pending.UnsupportedWithClaims()) {
    if (fields.BlockingOf(*p).none()) Enqueue(*p);
  }
}

void SchedulingState::Erase(PendingPod& p) {
  // The queue identifies pods by name, and another pod may have this name by now, so only a queued pod is removed
  // there.
  if (p.place == PendingPlace::kQueued) queue->Delete(*p.pod);
  queue->Done(*p.pod);
  if (NominatedPods* nominated = queue->nominated()) nominated->Remove(*p.pod);
  if (p.holds_room()) --binds_in_flight;
  if (p.place == PendingPlace::kWritingVolumes && options.claim_binder != nullptr) {
    options.claim_binder->Forget(p.attempt->reserved);
  }
  freed_uids.push_back(p.pod->meta.uid);
  pending.Remove(p);
}

void SchedulingState::NominationEnded(const api::PodPtr& pod) {
  if (!process.ended_nominations_wake || pod->nominated_node_name.empty()) return;
  ClusterChanged<api::Pod>(ClusterEvent::Kind::kAssignedPodDelete, {pod, nullptr});
}

void SchedulingState::ForgetAssumed(const api::PodPtr& assumed) {
  if (!cache->IsAssumed(assumed->meta.uid)) return;
  if (auto s = cache->ForgetPod(*assumed); !s.ok()) log.CacheFailed("ForgetPod", *assumed, util::Message(s));
  // Other pods may fit the node now.
  ClusterChanged<api::Pod>(ClusterEvent::Kind::kAssignedPodDelete, {assumed, nullptr});
}

absl::Duration SchedulingState::NextRetry(PendingPod& p) {
  p.retry_wait =
      p.retry_wait == absl::ZeroDuration() ? absl::Milliseconds(200) : std::min(p.retry_wait * 2, absl::Seconds(60));
  return p.retry_wait;
}

bool SchedulingState::RoomIsBeingMade(const api::Pod& pod) const {
  const Row row = cache->FindRow(pod.nominated_node_name);
  if (row == kNoRow) return false;
  const auto& pods = cache->row(row).pods;
  return std::any_of(pods.begin(), pods.end(),
                     [&](const PlacedPod& p) { return p.pod->meta.deleting() && p.pod->Priority() < pod.Priority(); });
}

void SchedulingState::ChoosePreemption(PendingPod& p, const NodeFailures& failures) {
  Preemption& chosen = p.attempt->preemption;
  const absl::Duration begun = clock->Steady();
  chosen = AlgorithmOf(*p.pod).Preempt(p.pod, failures, p.attempt->decided_at);
  now = clock->Steady();
  if (options.observer != nullptr) options.observer->PreemptionChosen(p.pod, chosen);
  ++metrics.preemption_attempts;
  metrics.preemption.Observe(now - begun);
  ObserveStage(*p.pod, Stage::kPostFilter, chosen.victims.empty() ? StageStatus::kUnschedulable : StageStatus::kSuccess,
               now - begun);
  metrics.preemption_victims = static_cast<int64_t>(chosen.victims.size());
  if (chosen.victims.empty()) return;
  metrics.victims.Observe(metrics.preemption_victims);
  metrics.victims_by_five.Observe(metrics.preemption_victims);
}

ProfileMetrics& SchedulingState::MetricsOf(const api::Pod& pod) {
  const Symbol profile = pod.tmpl->scheduler_name;
  if (last_metrics_ == nullptr || last_profile_ != profile) {
    last_profile_ = profile;
    last_metrics_ = &metrics.by_profile[profile.string()];
  }
  return *last_metrics_;
}

const std::vector<FailureReasonId>& SchedulingState::ReasonsOf(const std::shared_ptr<const NodeFailures>& failures) {
  if (last_failures_ != failures) {
    last_reasons_ = DistinctReasons(*failures);
    last_failures_ = failures;
  }
  return last_reasons_;
}

void SchedulingState::CountAttempt(const api::Pod& pod, AttemptResult result, absl::Duration took) {
  MetricsOf(pod).attempts[static_cast<size_t>(result)].Observe(took);
}

void SchedulingState::ObserveStage(const api::Pod& pod, Stage stage, StageStatus status, absl::Duration took) {
  if (!process.observes_stages) return;
  const auto at = static_cast<size_t>(stage), how = static_cast<size_t>(status);
  MetricsOf(pod).stages[at][how].Observe(took);
  if (stage != Stage::kFilter && stage != Stage::kScore) {
    metrics.plugins[at][how].Observe(took);
  }
}

}  // namespace berth::scheduler
