// What a simulation has shown.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pkg/simulate/series.h"
#include "pkg/simulate/virtual_clock.h"
#include "pkg/simulate/waits.h"

namespace berth::simulate {

// Where a pod was placed, or, if `node` is empty, that it never was.
struct Placement {
  std::string_view pod;  // "namespace/name"
  int32_t priority = 0;
  Micros arrived = 0;  // a pod that comes again after an eviction: when it did
  Micros placed = kNever;
  std::string_view node;
  uint32_t attempts = 0;
  std::string_view why;  // if it never was placed
};

// How a node was emptied.
struct Drain {
  std::string node;
  Micros begun = 0, empty = kNever;  // kNever: pods were left when the simulation ended
  int64_t evictions = 0;
};

struct Outcome {
  int64_t pods = 0;          // that have arrived, without those that were there at the beginning
  int64_t placed = 0;        // of these, at least once
  int64_t never_placed = 0;  // of these
  std::map<std::string, int64_t> never_placed_why;
  // How long pods waited until they were placed. A pod that was evicted and came again has waited each time.
  Waits waits;
  std::map<int32_t, Waits> waits_by_priority;
  std::map<std::string, Waits> waits_by_namespace;

  int64_t attempts = 0;     // decisions
  int64_t preemptions = 0;  // pods for which others were evicted
  int64_t evictions = 0;    // of pods, for whatever reason
  int64_t victims = 0;      // of these, to make room for more important pods
  int64_t refusals = 0;     // of evictions, because of budgets; each pod counts once a drain
  int64_t lost = 0;         // evicted pods that nothing creates again
  int64_t renamed = 0;      // pods whose name another pod had when they arrived
  int64_t idle_steps = 0;   // of nodes in steps, those with which there was nothing to do
  std::string first_idle_step;
  int64_t jobs_completed = 0, jobs_failed = 0;  // only with controllers
  int64_t refused_pods = 0;                     // arrivals that the API server did not take; only with controllers
  std::string first_refused;
  std::vector<Drain> drains;
  // The time, summed over pods, from an eviction until the pod that came in the place of the evicted one had started.
  Micros absent = 0;

  Micros first_arrival = kNever;
  Micros last_change = 0;  // when a pod arrived, was placed or ended for the last time
  Micros end = 0;          // the time at which the simulation ended
  bool cut = false;        // it ended before there was nothing left to happen
  Series series{1, 0, {}};
  double cpu_seconds = 0;  // of the thread
  size_t most_pods = 0;    // at the same time
  size_t nodes = 0;        // at the end
  int64_t makespan() const { return first_arrival == kNever ? 0 : last_change - first_arrival; }
};

}  // namespace berth::simulate
