// What follows an attempt that failed: event, condition, preemption, and the way back into the queue. There are two
// forms, one file each. Not to be included outside of Scheduler.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "pkg/scheduler/scheduling_state.h"

namespace berth::scheduler {

struct AttemptFailure {
  EventType event_type = EventType::kWarning;
  std::string event = {};        // message of the FailedScheduling event
  std::string_view reason = {};  // reason of the PodScheduled condition
  std::string message = {};      // message of the PodScheduled condition
  Requeue why = Requeue::kRetry;
  bool not_found = false;         // whether something that the attempt needed does not exist
  bool keeps_nomination = false;  // whether the pod's nomination stays even where errors end nominations
  bool is_logged = true;  // whether the failure was logged where it occurred, if the form does not log it itself
};

// Returns why the attempt failed. REQUIRES: the decision did not place the pod.
SchedulerLog::Failure WhyFailed(const Decision& d);

class AfterFailure {
 public:
  virtual ~AfterFailure() = default;
  // Continues after a decision that found no node or ended with an error. The pod's `why` and reasons are set.
  virtual void NotPlaced(PendingPod& p, std::unique_ptr<Attempt> attempt, const Decision& d) = 0;
  // Continues after any other failure of an attempt.
  virtual void Fail(PendingPod& p, AttemptFailure f) = 0;
  // Handles the reply to a request that this object has made.
  virtual void Replied(const Request& request, const Reply& r) = 0;
  // The timer of a pod that is kBackoff or kRefetching has ended.
  virtual void TimeUp(PendingPod& p) = 0;
};

// The form until 1.13: event and condition first, then preemption; the pod waits for each write before the next step,
// and it is read again before it goes back into the queue (after_failure_refetch.cc). `state` outlives the result.
std::unique_ptr<AfterFailure> NewRefetchAfterFailure(SchedulingState* state);
// The form from 1.19 on: preemption is part of the attempt, event and condition are written at the same time, and the
// pod goes back into the queue at once, as it was last received (after_failure_requeue.cc).
std::unique_ptr<AfterFailure> NewRequeueAfterFailure(SchedulingState* state);

}  // namespace berth::scheduler
