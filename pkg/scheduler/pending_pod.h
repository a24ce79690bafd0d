// A pending pod and its attempt. Shared by the parts of Scheduler; not to be included elsewhere.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/scheduler/cache/nominated_pods.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/failure_reasons.h"
#include "pkg/scheduler/queue/scheduling_queue.h"
#include "pkg/scheduler/scheduler_actions.h"
#include "pkg/scheduler/scheduler_log.h"
#include "pkg/scheduler/volumebinder/claim_binder.h"
#include "pkg/scheduler/volumebinder/volume_binder.h"
#include "pkg/util/log_line.h"

namespace berth::scheduler {

// Where a pending pod is.
enum class PendingPlace : uint8_t {
  kQueued,          // in the queue: active, in back-off there, or waiting for a change
  kBackoff,         // without PodPriority, waiting before it is read again
  kRefetching,      // being read again after a failure
  kWritingStatus,   // its condition is being written
  kPreempting,      // victims are being evicted for it
  kWritingVolumes,  // its volumes are being reserved
  kBinding,         // assumed on a node; the bind is not answered yet
  kBindUnknown,     // the bind may have been executed; the pod is read to find out
  kBound,           // bound; the watch has not shown it yet
  kVerifying,       // the watch and the cache disagree about its node; the pod is read to find out
  kDeleting,        // being deleted before it had a node
  kGated,           // has scheduling gates, and is not tried before they are removed
  kUnsupported,     // has fields that the emulated release does not understand, and waits for a change of them
};
inline constexpr size_t kPendingPlaces = 13;
std::string_view PlaceName(PendingPlace place);

// Why an attempt failed, and what is to be written about it, where that is written at once (1.19 and later).
struct Rejection {
  std::string message;
  std::string_view reason;
  SchedulerLog::Failure why = SchedulerLog::Failure::kError;
  std::vector<Symbol> plugins;       // the rules that rejected the pod
  std::optional<Symbol> nomination;  // the nomination to write: absent for no change, empty to clear it
};

// One attempt for one pod: from the decision until the pod is bound or goes back into the queue.
struct Attempt {
  absl::Duration begun, bind_begun;
  std::optional<absl::Duration> volumes_begun;  // set when volumes are written before the bind
  bool by_extender = false;                     // whether an extender binds the pod
  api::PodPtr assumed;                          // the copy of the pod with the node
  std::optional<absl::Duration> lost_at;        // when the answer to a bind was lost the last time
  SchedulerLog::Nodes nodes;                    // how many nodes the decision looked at
  Answer bind_answer;                           // the answer because of which the pod is read (kBindUnknown)
  int resends = 0;                              // how often the same bind was sent again
  std::vector<VolumeBinder::Binding> volumes;
  ClaimBinder::Assumed reserved;                 // what a ClaimBinder reserved for the pod; written in this order
  size_t next_volume = 0;                        // index in `volumes` or `reserved` of what is written next
  std::shared_ptr<const NodeFailures> failures;  // if not null, a preemption follows
  uint64_t decided_at = 0;                       // Cache::generation() when the failures were found
  Preemption preemption;
  size_t next_victim = 0;
  std::optional<absl::Duration> evictions_begun;  // when the first victim was to be evicted; empty if all were already
  Rejection rejection;
};

// Invariant: it waits for a reply (request) or for its timer or for neither, as its place says, and never for both
// (Scheduler::CheckInvariants).
struct PendingPod {
  api::PodPtr pod;  // the newest object that was received
  PendingPlace place = PendingPlace::kQueued;
  size_t position = 0;  // in the list of PendingTable
  std::unique_ptr<Attempt> attempt;
  RequestId request = 0;                             // 0 when no request is open
  std::pair<absl::Duration, uint64_t> timer{{}, 0};  // its key in PendingTable; second is 0 when no timer is set
  absl::Duration retry_wait;
  absl::Duration not_before;  // without PodPriority, end of its back-off
  uint64_t cycle = 0;         // the queue's cycle() when it was popped
  absl::Duration since;       // when it was first seen
  uint32_t attempts = 0;
  Requeue why = Requeue::kRetry;
  bool unsupported = false;                    // becomes kUnsupported when its condition is written
  bool changed = false;                        // its spec or metadata changed while it was not in the queue
  bool gone = false;                           // it was deleted while its bind, or the deletion of a victim, was open
  bool confirmed = false;                      // the watch showed it with a node while its bind was open
  std::optional<api::PodCondition> unwritten;  // a condition whose write is open or met a conflict
  // The node that it was nominated to, until the watch shows an object at least as new as this resourceVersion. The
  // version is empty until the write is answered.
  std::optional<std::pair<util::SharedSymbol, std::string>> nomination;
  util::SharedSymbol written_nomination;  // the nomination as last received from, or written to, the server
  std::vector<FailureReasonId> reasons;
  std::vector<std::string> claims;  // "namespace/name" of each claim that its volumes use

  bool holds_room() const { return place == PendingPlace::kBinding || place == PendingPlace::kBindUnknown; }
};

inline std::string Name(const api::Pod& p) {
  return p.meta.Key();
}

// Returns whether more than the status differs (1.10 isPodUpdated).
inline bool SpecOrMetadataChanged(const api::Pod& a, const api::Pod& b) {
  return a.tmpl != b.tmpl || a.meta.deletion_seconds != b.meta.deletion_seconds;
}

// Returns a copy of the pod with another nomination.
api::PodPtr WithNomination(const api::Pod& pod, Symbol node);

// Returns a log line about a pod, for messages that no release has (see SchedulerLog).
inline util::LogLine LineAbout(std::string_view message, const api::Pod& pod,
                               util::LogOrigin where = util::LogOrigin::Current()) {
  util::LogLine line(message, where);
  line.AddObject("pod", pod.meta.ns.str(), pod.meta.name);
  return line;
}

}  // namespace berth::scheduler
