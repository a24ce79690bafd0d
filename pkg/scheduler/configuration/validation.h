// What is wrong with the values of a KubeSchedulerConfiguration, in 1.29's words (Kubernetes 1.29
// apis/config/validation and component-base/config/validation).
#pragma once
#include <string>
#include <vector>

#include "pkg/scheduler/configuration/plugins.h"
#include "pkg/scheduler/configuration/problem.h"
#include "pkg/scheduler/configuration/types.h"

namespace berth::scheduler::configuration {

// Appends everything that is wrong, in 1.29's order. Which plugins there are is not looked at: see ResolveProfiles.
// One difference: the message for a schedulerName given twice shows the name, where 1.29 prints a pointer.
void Validate(const KubeSchedulerConfiguration& c, const Gates& gates, std::vector<Problem>* problems);

// Appends what is wrong with the arguments of NodeResourcesFit, which 1.29 looks at only when it builds the plugin.
// Texts begin with `prefix`, paths in texts at the arguments; `path` is where these stand. A RequestedToCapacityRatio
// without shape, which ends 1.29's process, is an error.
void ValidateNodeResourcesFit(const NodeResourcesFitArgs& args, const std::string& path, const std::string& prefix,
                              std::vector<Problem>* problems);

}  // namespace berth::scheduler::configuration
