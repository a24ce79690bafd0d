// A configuration file of kubescheduler.config.k8s.io (v1, v1beta3), which chooses release 1.29, as what the daemon
// runs by.
#pragma once
#include <absl/status/statusor.h>

#include <map>
#include <string>
#include <vector>

#include "cmd/kube-scheduler/component_config.h"
#include "pkg/api/json.h"
#include "pkg/scheduler/configuration/plugins.h"
#include "pkg/scheduler/registry/release.h"

namespace berth::kube_scheduler {

// Returns what the document says, with release 1.29's defaults. An error holds all mistakes in 1.29's words. What is
// accepted and has no effect is added to `warnings`, which may be null.
absl::StatusOr<Configuration> FromLaterConfiguration(api::Json document, const scheduler::configuration::Gates& gates,
                                                     std::vector<std::string>* warnings);

// Returns the body of /configz. Of the plugins it shows those that are called, at each extension point; their arguments
// and the extenders are not shown.
std::string LaterConfigurationToConfigz(const Configuration& c);

// Returns bindTimeoutSeconds of the plugin VolumeBinding by the name of the scheduler; empty in release 1.10.
std::map<util::Symbol, absl::Duration> VolumeBindTimeouts(const Configuration& c);

// Sets the release to run from --emulated-version (empty: not given). Returns an error when it contradicts the
// configuration file, or when there is no such version.
absl::Status SetRelease(const std::string& emulated_version, const std::string& config_file, Configuration* c);

// Returns the release that a configuration names. REQUIRES: c.release is one that SetRelease accepts.
const scheduler::Release& ReleaseToRun(const Configuration& c);

}  // namespace berth::kube_scheduler
