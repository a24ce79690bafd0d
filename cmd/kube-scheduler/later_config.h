// Converts a configuration file of kubescheduler.config.k8s.io (v1, v1beta3), which chooses release 1.29, into a
// Configuration.
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

// Returns the configuration in the document, with the plugins and defaults of `release` if it has profiles, and of 1.29
// otherwise. An error lists all mistakes in Kubernetes' words. Settings that are accepted but have no effect are added
// to `warnings`, which may be null.
absl::StatusOr<Configuration> FromLaterConfiguration(api::Json document, const scheduler::configuration::Gates& gates,
                                                     std::vector<std::string>* warnings, const release::Id* release);

// Returns the body of /configz. It shows the plugins that are called at each extension point, but neither their
// arguments nor the extenders.
std::string LaterConfigurationToConfigz(const Configuration& c);

// Returns bindTimeoutSeconds of the plugin VolumeBinding by scheduler name; empty in release 1.10.
std::map<util::Symbol, absl::Duration> VolumeBindTimeouts(const Configuration& c);

// Sets the release from --emulated-version (empty: not given). Returns an error if it contradicts the configuration
// file or there is no such version.
absl::Status SetRelease(const std::string& emulated_version, const std::string& config_file, Configuration* c);

// Returns the release that a configuration names. REQUIRES: c.release is one that SetRelease accepts.
const scheduler::Release& ReleaseToRun(const Configuration& c);

}  // namespace berth::kube_scheduler
