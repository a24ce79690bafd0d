// Reads pods to multiply from files that contain Pods or workloads with a pod template.
#pragma once
#include <absl/status/statusor.h>

#include <map>
#include <string>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/lab/scenario.h"
#include "pkg/lab/validate.h"
#include "pkg/world/objects.h"

namespace berth::lab {

// A pod to multiply.
struct PodSpec {
  api::PodPtr pod;
  world::ValuePtr value;  // as it was read, for admission
};

// Returns every pod of the file: Pods, and the templates of workloads under the names of the workloads. Objects without
// a pod are passed over, and their number by kind is added to `passed_over`. Mistakes in the others are noted in
// `validator`. An error names the file; a file without a pod is an error.
absl::StatusOr<std::vector<PodSpec>> ReadPodSpecs(const std::string& file, Validator* validator,
                                                  std::map<std::string, int64_t>* passed_over);

// Returns the pod as admission leaves it in the cluster that the scenario was read from, or why it is refused.
absl::StatusOr<api::PodPtr> AdmittedSpec(const PodSpec& spec, const Scenario& scenario);

// Returns replica `number` of a pod: a pod with its own name and uid that is not bound.
api::PodPtr ReplicaOf(const api::Pod& spec, int64_t number);

}  // namespace berth::lab
