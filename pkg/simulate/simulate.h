// Runs a scheduler over the arrivals of pods in simulated time: the classes of the daemon, with a clock that jumps from
// event to event, and a small API server in memory that answers each request after a given time.
//
// All that happens at one time is seen by the scheduler before it decides, and it decides about all pods that are ready
// before its requests are answered: decisions take no time. Equal arguments give equal results.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pkg/lab/metrics.h"
#include "pkg/lab/scenario.h"
#include "pkg/recording/format.h"
#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/core/guest.h"
#include "pkg/simulate/arrivals.h"
#include "pkg/simulate/outcome.h"
#include "pkg/simulate/steps.h"

namespace berth::simulate {

// What is simulated. All of it must outlive the simulation, and may be shared by several at the same time.
struct Case {
  const lab::Scenario* scenario = nullptr;  // its pending pods are not looked at: they are among the arrivals
  const lab::Workload* workload = nullptr;  // its resources are measured; with all nodes that are there at some time
  const std::vector<Step>* steps = nullptr;
  // A pod to copy when a workload is scaled, by "KIND NAMESPACE/NAME".
  const absl::flat_hash_map<std::string, api::PodPtr>* workload_pods = nullptr;
  Micros horizon = 0;  // when it will end, as far as that is known; for the width of the stretches of the series
};

struct Options {
  recording::CoreConfiguration configuration;
  bool calls_extenders = false;
  lab::Ties ties;  // REQUIRES: in turn if it is recorded, because a replay decides in turn
  // How long it takes until a request is answered, until a bound pod has started, until a pod that is deleted is gone,
  // and until the pods of a node that has failed are evicted.
  Micros bind_delay = 0, start_delay = 0, end_delay = 0, eviction_delay = 300 * kSecond;
  // Whether the controllers and kubelets of the input are simulated (pkg/world/living), and not only what follows for
  // its pods. REQUIRES: the scenario was read with its objects kept. `seed`: of uids and the ends of names.
  bool controllers = false;
  uint64_t seed = 1;
  bool budgets = true;     // whether drains respect PodDisruptionBudgets
  std::string record_dir;  // empty: no recording
  Micros until = kNever;   // when to cut it
  // Whether it is an error if pods evict one another forever: nobody has said when to cut it.
  bool ends_by_itself = false;
  std::function<void(const Placement&)> placement;  // may be empty
  const std::atomic<bool>* cut = nullptr;           // ends it as soon as it is true; may be null
  std::atomic<Micros>* now = nullptr;               // gets the simulated time now and then; may be null
  // Takes part in decisions; may be null. REQUIRES: it is null if the simulation is recorded. `began` is called with
  // the table of nodes once these are there; it may be empty.
  scheduler::Guest* guest = nullptr;
  std::function<void(scheduler::Cache&)> began;
};

// Runs a simulation to its end: until nothing will happen any more, and every pod that waits was tried since the last
// change.
absl::StatusOr<Outcome> Simulate(const Case& what, std::unique_ptr<ArrivalSource> arrivals, const Options& options);

}  // namespace berth::simulate
