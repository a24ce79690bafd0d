// Types that the source files of Scheduler share. Not to be included elsewhere.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "pkg/scheduler/scheduler.h"
#include "pkg/util/log_line.h"

namespace berth::scheduler {

// Returns a log line about a pod, for messages that no release has (see SchedulerLog).
inline util::LogLine LineAbout(std::string_view message, const api::Pod& pod,
                               util::LogOrigin where = util::LogOrigin::Current()) {
  util::LogLine line(message, where);
  line.AddObject("pod", pod.meta.ns.str(), pod.meta.name);
  return line;
}

// Release 1.29: why an attempt failed, and what is to be written about it.
struct Rejection {
  std::string message;
  std::string_view reason;
  SchedulerLog::Failure why = SchedulerLog::Failure::kError;
  std::vector<Symbol> plugins;       // the rules that rejected the pod
  std::optional<Symbol> nomination;  // the nomination to write: absent for no change, empty to clear it
};

// Returns why the attempt failed. REQUIRES: the decision did not place the pod.
SchedulerLog::Failure WhyFailed(const Decision& d);

// One attempt for one pod: from the decision until the pod is bound or goes back into the queue.
struct Scheduler::Attempt {
  absl::Duration begun, bind_begun;
  std::optional<absl::Duration> volumes_begun;  // set when volumes are written before the bind
  bool by_extender = false;                     // whether an extender binds the pod
  api::PodPtr assumed;                          // the copy of the pod with the node
  std::optional<absl::Duration> lost_at;        // when the answer to a bind was lost the last time
  SchedulerLog::Nodes nodes;                    // how many nodes the decision looked at
  Answer bind_answer;                           // the answer because of which the pod is read (kBindUnknown)
  int resends = 0;                              // how often the same bind was sent again
  std::vector<VolumeBinder::Binding> volumes;
  ClaimBinder::Assumed reserved;                 // release 1.29: what is reserved for the pod; written in this order
  size_t next_volume = 0;                        // index in `volumes` or `reserved` of what is written next
  std::shared_ptr<const NodeFailures> failures;  // if not null, a preemption follows
  Preemption preemption;
  size_t next_victim = 0;
  Rejection rejection;
};

// A pending pod. Invariant: it waits for a reply (request) or for its timer or for neither, as Place says, and never
// for both (CheckInvariants).
struct Scheduler::Pending {
  api::PodPtr pod;  // the newest object that was received
  Place place = Place::kQueued;
  size_t position = 0;  // in Scheduler::pending_list_
  std::unique_ptr<Attempt> attempt;
  RequestId request = 0;                             // 0 when no request is open
  std::pair<absl::Duration, uint64_t> timer{{}, 0};  // its key in Scheduler::timers_; second is 0 when no timer is set
  absl::Duration retry_wait;
  absl::Duration not_before;  // without PodPriority, end of its back-off
  uint64_t cycle = 0;         // the queue's cycle() when it was popped
  absl::Duration since;       // when it was first seen
  uint32_t attempts = 0;
  Requeue why = Requeue::kRetry;
  bool unsupported = false;                    // becomes kUnsupported when its condition is written
  bool changed = false;                        // its spec or metadata changed while it was not in the queue
  bool gone = false;                           // it was deleted while its bind was open
  bool confirmed = false;                      // the watch showed it with a node while its bind was open
  std::optional<api::PodCondition> unwritten;  // a condition whose write is open or met a conflict
  // The node that it was nominated to, until the watch shows an object at least as new as this resourceVersion. The
  // version is empty until the write is answered.
  std::optional<std::pair<util::SharedSymbol, std::string>> nomination;
  util::SharedSymbol written_nomination;  // the nomination as last received from, or written to, the server
  std::vector<FailureReasonId> reasons;
  std::vector<std::string> claims;  // its keys in Scheduler::by_claim_
};

inline std::string Name(const api::Pod& p) {
  return p.meta.Key();
}

// Returns "namespace/name" of each claim that the pod's volumes use.
std::vector<std::string> ClaimsOf(const api::Pod& pod);

// Returns whether more than the status differs (1.10 isPodUpdated).
inline bool SpecOrMetadataChanged(const api::Pod& a, const api::Pod& b) {
  return a.tmpl != b.tmpl || a.meta.deletion_seconds != b.meta.deletion_seconds;
}

// Returns a copy of the pod with another nomination.
api::PodPtr WithNomination(const api::Pod& pod, Symbol node);

}  // namespace berth::scheduler
