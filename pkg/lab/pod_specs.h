// Pods to multiply, read from files that hold Pods or workloads with a pod template.
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "pkg/api/types.h"

namespace berth::lab {

// Returns every pod of the file: Pods, and the templates of workloads under the workload's own name. Errors name the
// file; a file without a pod is one.
absl::StatusOr<std::vector<api::PodPtr>> ReadPodSpecs(const std::string& file);

// Returns replica `number` of a pod: a pod of its own, bound to no node.
api::PodPtr ReplicaOf(const api::Pod& spec, int64_t number);

}  // namespace berth::lab
