// Flags that choose a release and its configuration.
#pragma once
#include <absl/status/status.h>

#include <string>

#include "pkg/lab/scenario.h"

namespace berth::schedsim {

// Chooses a release by its name. The error names the flag and what would be right.
absl::Status UseRelease(const std::string& release, lab::Algorithm* algorithm);

// Reads a KubeSchedulerConfiguration of kubescheduler.config.k8s.io, which chooses release 1.29 and its profiles. Says
// on standard error what is accepted and has no effect. The error has all mistakes of the file.
absl::Status UseConfiguration(const std::string& file, lab::Algorithm* algorithm);

}  // namespace berth::schedsim
