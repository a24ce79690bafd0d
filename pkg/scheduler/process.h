// What differs between releases around a decision, as data: the order of writes to the API server and the texts of
// events.
#pragma once
#include <string>
#include <string_view>

#include "pkg/api/types.h"
#include "pkg/scheduler/scheduler_log.h"

namespace berth::scheduler {

// What is said of a pod that is not bound because of its volumes.
struct VolumeFailure {
  std::string_view before_error;      // precedes the error of a write
  std::string_view before_wait;       // precedes what was wrong while claims were waited for
  std::string_view timeout;           // the error of claims that were not bound in time
  std::string_view condition_reason;  // the reason of the PodScheduled condition
  bool in_condition = true;           // whether the condition has the error as its message
  bool keeps_nomination = false;      // whether the pod's nomination stays even where errors end nominations
};

struct Process {
  // The order of steps after a failed attempt. If true (1.29), preemption is part of the attempt, the nomination is
  // written together with the condition, and the pod goes back into the queue at once, as last received. If false
  // (1.10), the condition is written first, then preemption follows, and the pod is read again before it goes back into
  // the queue.
  bool requeues_at_once = false;
  // Whether the pod is read after a bind that met a conflict, before anything is written about it. It may be bound
  // already, and then its condition must not say that it is not.
  bool reads_pod_after_conflict = false;
  // Whether a node that a bind did not find is read, and taken out of the cache if it is gone (until 1.29).
  bool asks_for_lost_nodes = true;
  // The reason of the PodScheduled condition after an attempt that ended with an error.
  std::string_view error_reason = "SchedulerError";
  // Whether the condition says when the pod was tried last, so that it is written after each failure (1.13).
  bool notes_probe_time = false;
  // Whether a failure after the decision clears the pod's nomination. Otherwise only a preemption that helps nowhere
  // does.
  bool errors_end_nominations = true;
  // Whether a pod's nomination is taken back when no eviction would help it (since 1.9).
  bool ends_vain_nominations = true;
  // Whether a pod that is no longer nominated, or is gone, counts like one that is gone from its node, for pods of the
  // same or a lower priority (1.36).
  bool ended_nominations_wake = false;
  // Whether the message of a failed attempt says what came of preemption.
  bool tells_of_preemption = true;
  // Whether the pod is read from the API server before others are evicted for it, where that is part of the attempt.
  bool reads_preemptor = false;
  // Whether a victim gets the condition DisruptionTarget before it is deleted.
  bool marks_victims = true;
  // Whether the node is written as the pod's nomination before volumes are claimed for it.
  bool nominates_before_volumes = false;

  // The reason of the PodScheduled condition after a failed bind, and whether its message is the error of the bind.
  std::string_view bind_failed_reason;
  bool condition_has_bind_error = false;

  VolumeFailure volume_failure;

  // Return the messages of events. `assumed` has the node in spec.nodeName.
  std::string (*scheduled_note)(const api::Pod& assumed) = nullptr;
  std::string (*bind_failed_note)(std::string_view error) = nullptr;
  // Whether the error of an extender that binds is reported as it is.
  bool extender_bind_error_is_bare = false;
  std::string (*preempted_note)(const api::Pod& preemptor, std::string_view node) = nullptr;

  bool observes_stages = false;       // whether the durations of the stages of an attempt are measured
  bool measures_events = false;       // whether those of changes of the cluster, hints and evictions are (1.36)
  const SchedulerLog* log = nullptr;  // never null in a release
};

// Returns "Successfully assigned ns/name to node" (from 1.11 on). `assumed` has the node in spec.nodeName.
std::string AssignedNote(const api::Pod& assumed);

}  // namespace berth::scheduler
