// Shared by the sources of Scheduler alone.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "pkg/scheduler/scheduler.h"
#include "pkg/util/log_line.h"

namespace berth::scheduler {

// Returns a log line about a pod, for what the releases have no words of their own.
inline util::LogLine LineAbout(std::string_view message, const api::Pod& pod,
                               util::LogOrigin where = util::LogOrigin::Current()) {
  util::LogLine line(message, where);
  line.AddObject("pod", pod.meta.ns.str(), pod.meta.name);
  return line;
}

// Why an attempt failed, and what is to be written about it (release 1.29).
struct Rejection {
  std::string message;
  std::string_view reason;
  std::vector<Symbol> plugins;       // that rejected the pod
  std::optional<Symbol> nomination;  // absent: stays as it is; empty: is taken back
  bool not_found = false;            // because something that was needed does not exist
};

// One try of one pod, from the decision until it is settled.
struct Scheduler::Attempt {
  absl::Duration begun, bind_begun;
  std::optional<absl::Duration> volumes_begun;  // set when volumes are written before the bind
  bool by_extender = false;                     // an extender binds it
  api::PodPtr assumed;                          // the copy with the node in it
  std::optional<absl::Duration> lost_at;        // the bind was sent, and nobody knows what became of it
  SchedulerLog::Nodes nodes;                    // what the decision looked at
  Answer bind_answer;                           // the one that made us ask
  int resends = 0;                              // how often the same bind was sent again
  std::vector<VolumeBinder::Binding> volumes;
  ClaimBinder::Assumed reserved;  // release 1.29: what is reserved for it, and is written in this order
  size_t next_volume = 0;
  std::shared_ptr<const NodeFailures> failures;  // a preemption is to follow
  Preemption preemption;
  size_t next_victim = 0;
  Rejection rejection;
};

struct Scheduler::Pending {
  api::PodPtr pod;  // the newest object we know
  Place place = Place::kQueued;
  size_t position = 0;  // in Scheduler::pending_list_
  std::unique_ptr<Attempt> attempt;
  RequestId request = 0;                             // 0: none is open
  std::pair<absl::Duration, uint64_t> timer{{}, 0};  // second 0: none is set
  absl::Duration retry_wait;
  absl::Duration not_before;  // without PodPriority: end of its back-off
  uint64_t cycle = 0;         // of the queue, when it was popped
  absl::Duration since;       // when it was first seen
  uint32_t attempts = 0;
  Requeue why = Requeue::kRetry;
  bool unsupported = false;                    // to be set aside once its condition is written
  bool changed = false;                        // its spec or metadata changed while it was out of the queue
  bool gone = false;                           // it was deleted while its bind is open
  bool confirmed = false;                      // the watch has shown it with a node while its bind is open
  std::optional<api::PodCondition> unwritten;  // a condition that met a conflict
  // The node nominated here, until the watch shows an object at least as new as this resourceVersion.
  std::optional<std::pair<Symbol, std::string>> nomination;
  Symbol written_nomination;  // the nomination that the server has, as far as we know
  std::vector<FailureReasonId> reasons;
  std::vector<std::string> claims;  // its keys in Scheduler::by_claim_
};

inline std::string Name(const api::Pod& p) {
  return p.meta.Key();
}

// Returns "namespace/name" of each claim that the pod's volumes use.
std::vector<std::string> ClaimsOf(const api::Pod& pod);

// More than its status changed (1.10 isPodUpdated).
inline bool SpecOrMetadataChanged(const api::Pod& a, const api::Pod& b) {
  return a.tmpl != b.tmpl || a.meta.deletion_seconds != b.meta.deletion_seconds;
}

// The same object with another nomination.
api::PodPtr WithNomination(const api::Pod& pod, Symbol node);

}  // namespace berth::scheduler
