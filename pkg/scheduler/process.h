// What a release's scheduler does around its decisions, as data: the order of its writes and the words of its events.
#pragma once
#include <string>
#include <string_view>

#include "pkg/api/types.h"
#include "pkg/scheduler/scheduler_log.h"

namespace berth::scheduler {

struct Process {
  // True: a pod that failed goes back into the queue at once, as it is known, while event and condition are on their
  // way; preemption is part of the attempt, and the nomination is written together with the condition (1.29).
  // False: the condition is written first, then room is made for the pod, and the pod is read again before it goes back
  // into the queue (1.10).
  bool requeues_at_once = false;
  // After a bind that met a conflict the pod is read before anything is written about it: it may be bound already, and
  // its condition must not say otherwise.
  bool reads_pod_after_conflict = false;
  // The PodScheduled condition after a failed bind.
  std::string_view bind_failed_reason;
  bool condition_has_bind_error = false;

  // Notes of events. `assumed` has the node in spec.nodeName.
  std::string (*scheduled_note)(const api::Pod& assumed) = nullptr;
  std::string (*bind_failed_note)(std::string_view error) = nullptr;
  std::string (*preempted_note)(const api::Pod& preemptor, std::string_view node) = nullptr;

  bool observes_stages = false;       // the durations of the stages of an attempt are observed
  const SchedulerLog* log = nullptr;  // never null in a release
};

// Returns the process of a release by its name ("1.29"); 1.10's for names that are not known.
const Process& ProcessOf(std::string_view release);
const Process& Process110();
const Process& Process129();

}  // namespace berth::scheduler
