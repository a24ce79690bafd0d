// Writes configurations as files (--write-config-to).
#pragma once
#include <string>

#include "cmd/kube-scheduler/component_config.h"

namespace berth::kube_scheduler {

// Returns the configuration in YAML, with its keys sorted, in the newest version that its release reads: for 1.10
// componentconfig/v1alpha1, for 1.13 kubescheduler.config.k8s.io/v1alpha1, and then a version with profiles. Profiles
// and extenders of a file are written as they were given, in that file's version. What the version has no field for,
// such as a Policy beside profiles, is told in `lost` by the flag that gives it again.
std::string WrittenConfiguration(const Configuration& c, std::vector<std::string>* lost);

}  // namespace berth::kube_scheduler
