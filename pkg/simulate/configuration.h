// The scheduler of a simulation.
#pragma once
#include <absl/status/statusor.h>

#include <string>

#include "pkg/lab/scenario.h"
#include "pkg/recording/format.h"

namespace berth::simulate {

// Returns the configuration of a daemon that decides by the algorithm, with the defaults of the release for all else.
// `policy` and `configuration` are the texts of the Policy or the KubeSchedulerConfiguration that the algorithm was
// read from; empty if there is none.
absl::StatusOr<recording::CoreConfiguration> ConfigurationOf(const lab::Algorithm& algorithm, const std::string& policy,
                                                             const std::string& configuration);

}  // namespace berth::simulate
