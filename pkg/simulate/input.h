// What of an input matters for its simulation.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "pkg/lab/scenario.h"
#include "pkg/simulate/arrival_file.h"
#include "pkg/simulate/arrivals.h"
#include "pkg/simulate/steps.h"

namespace berth::simulate {

// The annotations that say when a pod arrives and for how long it runs, as times (times.h).
inline constexpr char kTimeAnnotation[] = "schedsim/time", kDurationAnnotation[] = "schedsim/duration";

// Returns the checks of all annotations of pods and templates that say something to a simulation.
std::vector<lab::AnnotationCheck> PodAnnotations();

// The pending pods of an input, and what others are copied from.
struct InputPods {
  std::vector<Arrival> arrivals;  // of the pending pods, at time 0 or as annotated, in their order
  KnownPods known;
  WorkloadPods workload_pods;
};

// Returns the pods of the scenario, which was read with its JSON kept. An error names the pod and its annotation.
absl::StatusOr<InputPods> PodsOf(const lab::Scenario& scenario);

// Returns a scenario with all nodes that are there at some time, and pods like those that arrive, for lab::Workload.
lab::Scenario ToMeasure(const lab::Scenario& scenario, const std::vector<Step>& steps,
                        const std::vector<api::PodPtr>& sample);

}  // namespace berth::simulate
