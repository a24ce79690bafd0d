// Validates the values of a KubeSchedulerConfiguration, with the messages of the release that reads it, which are those
// of 1.29 up to there. Source: pkg/scheduler/apis/config/validation and k8s.io/component-base/config/validation (1.29,
// 1.36).
#pragma once
#include <string>
#include <vector>

#include "pkg/scheduler/configuration/plugins.h"
#include "pkg/scheduler/configuration/problem.h"
#include "pkg/scheduler/configuration/types.h"

namespace berth::scheduler::configuration {

// Appends all errors in the order of 1.29. It does not check which plugins exist; ResolveProfiles does. There is one
// difference: the message for a duplicate schedulerName shows the name, where 1.29 prints a pointer.
void Validate(const KubeSchedulerConfiguration& c, release::Version release, const Gates& gates,
              std::vector<Problem>* problems);

// Appends the errors in extenders.
void ValidateExtenders(const std::vector<ExtenderConfig>& extenders, std::vector<Problem>* problems);

// Appends the errors in the arguments of NodeResourcesFit, which 1.29 checks only when it creates the plugin. `path` is
// the path of the arguments; texts begin with `prefix`, and paths in texts are relative to the arguments.
// RequestedToCapacityRatio without a shape is an error; the process of 1.29 crashes.
void ValidateNodeResourcesFit(const NodeResourcesFitArgs& args, release::Version release, const std::string& path,
                              const std::string& prefix, std::vector<Problem>* problems);

}  // namespace berth::scheduler::configuration
