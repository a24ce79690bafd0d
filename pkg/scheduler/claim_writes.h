// The volumes and claims that are written for a pod when it has a node. There are two forms, one file each. Not to be
// included outside of Scheduler.
#pragma once
#include <functional>
#include <memory>

#include "pkg/scheduler/after_failure.h"

namespace berth::scheduler {

class ClaimWrites {
 public:
  virtual ~ClaimWrites() = default;
  // Called before a pod is assumed on the node that was chosen. Returns false if the attempt ends here.
  virtual bool BeforeAssuming(PendingPod& p, const api::PodPtr& assumed) = 0;
  // Called when the pod is assumed. Returns whether it can be bound at once; if not, it is bound later, or the attempt
  // fails.
  virtual bool AfterAssuming(PendingPod& p) = 0;
  // Handles the answer to a kVolume request.
  virtual void Written(PendingPod& p, const Answer& a) = 0;
  // The timer of a pod that is kWritingVolumes has ended.
  virtual void TimeUp(PendingPod& p) = 0;
  // A volume or a claim has changed in the cache. The queue is told afterwards.
  virtual void VolumeChanged(const Change<api::PersistentVolume>& c) = 0;
  virtual void ClaimChanged(const Change<api::PersistentVolumeClaim>& c) = 0;
  // The queue was told that a claim has changed.
  virtual void AfterClaimEvent(const Change<api::PersistentVolumeClaim>& c) = 0;
};

// The form until 1.12: volumes are written before the pod is assumed; then the attempt ends, and the pod is tried again
// when its claims are bound (claim_writes_before_assuming.cc). Both pointers outlive the result.
std::unique_ptr<ClaimWrites> ClaimWritesBeforeAssuming(SchedulingState* state, AfterFailure* failures);
// The form from 1.13 on: volumes and claims are written while the pod is assumed, and it is bound when all of them are
// bound (claim_writes_before_binding.cc). `bind` is called for a pod that can be bound now. REQUIRES: the options have
// a claim binder.
std::unique_ptr<ClaimWrites> ClaimWritesBeforeBinding(SchedulingState* state, AfterFailure* failures,
                                                      std::function<void(PendingPod&)> bind);

}  // namespace berth::scheduler
