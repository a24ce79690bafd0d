// Reads pods to multiply from files that contain Pods or workloads with a pod template.
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "pkg/api/types.h"

namespace berth::lab {

// Returns every pod of the file: Pods, and the templates of workloads under the names of the workloads. An error names
// the file; a file without a pod is an error.
absl::StatusOr<std::vector<api::PodPtr>> ReadPodSpecs(const std::string& file);

// Returns replica `number` of a pod: a pod with its own name and uid that is not bound.
api::PodPtr ReplicaOf(const api::Pod& spec, int64_t number);

}  // namespace berth::lab
