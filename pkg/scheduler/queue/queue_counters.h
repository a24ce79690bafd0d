// What an EventQueue counts for its metrics (Kubernetes 1.29 and 1.36: pkg/scheduler/metrics).
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <absl/time/time.h>

#include "pkg/scheduler/queue/cluster_event.h"
#include "pkg/scheduler/queue/events_in_flight.h"
#include "pkg/scheduler/queue/scheduling_queue.h"

namespace berth::scheduler {

// Thread-safety: none.
class QueueCounters {
 public:
  // What brings a pod into a part of the queue: a ClusterEvent::Kind or one of these.
  enum Cause : size_t {
    kPodAdd = EventsInFlight::kKinds,
    kPodUpdate,
    kAttemptFailed,
    kBackoffOver,
    kPoppedEarly,  // from the pods that back off, because none was active
    kCauses,
  };
  // The parts of the queue, in the order of their counters.
  enum Part : size_t { kActive, kBackoff, kUnschedulable, kParts };

  // Counts a pod that came into a part of the queue.
  void Came(size_t cause, Part part) { ++came_[cause][part]; }
  // Adds to the number of pods in the queue that each of the plugins has rejected.
  void Rejected(const std::vector<util::Symbol>& plugins, util::Symbol profile, int64_t by) {
    for (util::Symbol plugin : plugins) rejected_[{plugin, profile}] += by;
  }
  // Counts that a plugin was asked, for as many pods, whether an event of the kind may help.
  void CountHint(util::Symbol plugin, ClusterEvent::Kind kind, bool may_help, absl::Duration took_each, uint64_t pods) {
    hints_[{plugin, LabelOf(kind), may_help}].Observe(took_each, pods);
  }

  // Returns all counts but those of events in flight. `names_resources`: QueueRules.
  QueueCounts Counts(bool names_resources) const;

 private:
  std::array<std::array<uint64_t, kParts>, kCauses> came_{};
  absl::flat_hash_map<std::pair<util::Symbol, util::Symbol>, int64_t> rejected_;  // by plugin and profile
  // By rule, label of the event, and whether it may help.
  absl::flat_hash_map<std::tuple<util::Symbol, std::string_view, bool>, util::SecondsHistogram<10, 15, 20>> hints_;
};

}  // namespace berth::scheduler
