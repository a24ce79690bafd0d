// The flags that choose a release and its configuration.
#pragma once
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>

#include "pkg/lab/scenario.h"

namespace berth::schedsim {

// Chooses a release by name. An error names the flag and the valid values.
absl::Status UseRelease(const std::string& name, lab::Algorithm* algorithm);

// Reads a KubeSchedulerConfiguration with profiles, which chooses the release unless the one of the algorithm reads it.
// The profiles change the plugins of the algorithm's provider, which is taken out. Settings without effect are reported
// on standard error, once for each file. An error lists all mistakes in the file; a file that the release of
// --emulated-version (`asked`; null: not given) does not read is one, too.
absl::Status UseConfiguration(const std::string& file, const release::Id* asked, lab::Algorithm* algorithm);

// Returns the Policy in a file, for the release of the algorithm. What is wrong with it without making it unusable is
// said on standard error, once for each file. If `strict`, a key that stands twice is an error.
absl::StatusOr<scheduler::Policy> ReadPolicyFile(const std::string& file, const lab::Algorithm& algorithm,
                                                 bool strict = false);

}  // namespace berth::schedsim
