// What the parts of a Scheduler share: what they work on, the table of pending pods, and the steps that several of them
// take. Not to be included elsewhere.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/time/time.h>

#include <string>
#include <vector>

#include "pkg/scheduler/pending_table.h"
#include "pkg/scheduler/process.h"
#include "pkg/scheduler/queue/pod_backoff.h"
#include "pkg/scheduler/scheduler.h"
#include "pkg/scheduler/unknown_fields.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {

struct SchedulingState {
  SchedulingState(Cache* cache, SchedulingQueue* queue, VolumeBinder* volume_binder, Actions* actions,
                  const util::Clock* clock, SchedulerOptions options);

  Cache* cache;
  SchedulingQueue* queue;
  VolumeBinder* volume_binder;  // may be null
  Actions* actions;
  const util::Clock* clock;
  const SchedulerOptions options;
  const Process& process;
  const SchedulerLog& log;
  UnknownFields::Profiles profiles;

  absl::Duration now;  // the clock's Steady() at the last input
  SchedulerMetrics metrics;
  PendingTable pending;
  UnknownFields fields;
  PodBackoff backoff;
  size_t binds_in_flight = 0;
  // The uids of pods that are gone, until Scheduler has admitted the next pod with the same uid.
  std::vector<std::string> freed_uids;

  // Returns the scheduler of the pod's profile. REQUIRES: there is one.
  GenericScheduler& AlgorithmOf(const api::Pod& pod) const {
    const auto profile = profiles.find(pod.tmpl->scheduler_name);
    BERTH_REQUIRES(profile != profiles.end());
    return *profile->second;
  }
  // Returns whether no further request may be made for now.
  bool Saturated() const { return pending.open_requests() >= options.max_requests_in_flight; }
  // Returns the time of day in the API's format.
  std::string WallTime() const;

  // Tells the queue of an event that may let pods fit.
  template <typename T>
  void ClusterChanged(ClusterEvent::Kind kind, const EventObject<T>& object) {
    queue->ClusterChanged({kind, object}, now);
  }
  void ClusterChanged(ClusterEvent::Kind kind) { queue->ClusterChanged({kind}, now); }
  // Tells the queue that a pod loses its nomination, if it has one and the release minds.
  void NominationEnded(const api::PodPtr& pod);
  // Adds a pod to the queue as ready. A pod with scheduling gates becomes kGated instead, unless its profile does not
  // hold it.
  void Enqueue(PendingPod& p);
  // Lets a pod that failed be tried again without waiting for the end of its back-off.
  void TryAgainNow(PendingPod& p);
  // Lets pods be tried that are set aside and no longer have to be, after a change of what claims depend on.
  void TryUnsupportedClaims();
  // Removes a pod from the table, the queue and the nominations. `p` is invalid afterwards.
  void Erase(PendingPod& p);
  // Takes an assumed pod from its node again, unless the watch has shown it there.
  void ForgetAssumed(const api::PodPtr& assumed);
  // Returns how long to wait before a request of the pod is sent again: 200 ms at first, then twice as long each time,
  // up to a minute.
  static absl::Duration NextRetry(PendingPod& p);
  // Returns whether a pod of lower priority is terminating on the node that this pod is nominated to.
  bool RoomIsBeingMade(const api::Pod& pod) const;
  // Chooses the node and the victims of a preemption for the pod, and counts them.
  void ChoosePreemption(PendingPod& p, const NodeFailures& failures);

  // Returns DistinctReasons of the failures. Pods of one template that wait share them.
  const std::vector<FailureReasonId>& ReasonsOf(const std::shared_ptr<const NodeFailures>& failures);

  void CountAttempt(const api::Pod& pod, AttemptResult result, absl::Duration took);
  void ObserveStage(const api::Pod& pod, Stage stage, StageStatus status, absl::Duration took);

 private:
  ProfileMetrics& MetricsOf(const api::Pod& pod);

  // The failures of which ReasonsOf was asked last.
  std::shared_ptr<const NodeFailures> last_failures_;
  std::vector<FailureReasonId> last_reasons_;
  // The metrics of the profile that was asked for last.
  util::Symbol last_profile_;
  ProfileMetrics* last_metrics_ = nullptr;
};

}  // namespace berth::scheduler
