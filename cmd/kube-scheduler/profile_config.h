// Converts a configuration file of kubescheduler.config.k8s.io with profiles (v1beta1 and later) into a Configuration.
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

// Returns the configuration in the document, whose text is given for errors, with the defaults of the release; null: no
// release reads its version. An error lists all mistakes in the release's words. `as.provider` is the one whose plugins
// profiles change; of `as.gates` those count that the release has. Settings that are accepted but have no effect are
// added to `warnings`, which may be null.
absl::StatusOr<Configuration> FromProfileConfiguration(api::Json document, std::string_view text,
                                                       const release::Id* release, const ReadAs& as,
                                                       std::vector<std::string>* warnings);

// Sets the release, and what it has by default: its lock and the times of its queue.
void UseDefaultsOf(const release::Id& release, Configuration* c);

// Returns the body of /configz. It shows the configuration as the release completes it, without secrets of extenders,
// and in 1.19 the plugins that are called at each extension point.
std::string ProfilesToConfigz(const Configuration& c);

// Returns by scheduler name how long the claims of a pod may take to be bound (bindTimeoutSeconds).
std::map<util::Symbol, absl::Duration> VolumeBindTimeouts(const Configuration& c);

// Sets the release from --emulated-version (empty: not given). Returns an error if it contradicts the configuration
// file or there is no such version. Of the gates those count that the release has.
absl::Status SetRelease(const std::string& emulated_version, const std::string& config_file, Configuration* c,
                        const GateSettings& gates = {});

// Returns the release that a configuration names. REQUIRES: c.release is not null.
const scheduler::Release& ReleaseToRun(const Configuration& c);

}  // namespace berth::kube_scheduler
