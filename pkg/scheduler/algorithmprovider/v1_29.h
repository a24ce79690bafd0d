// Release 1.29: its plugins as registered rules, and the algorithm that a profile configures.
#pragma once
#include <absl/status/statusor.h>

#include "pkg/scheduler/configuration/profile.h"
#include "pkg/scheduler/registry/algorithm_config.h"
#include "pkg/scheduler/registry/release.h"

namespace berth::scheduler::algorithmprovider {

const Release& V1_29();

// Returns the rules of a profile with its weights and arguments. `others` contains the rules of plugin/. Returns an
// error if a plugin is not registered. REQUIRES: args.cache describes templates with V1_29().describe_template and
// outlives the rules.
absl::StatusOr<AlgorithmConfig> AlgorithmOf(const configuration::ResolvedProfile& profile, PluginFactoryArgs args,
                                            const Registry& others);

}  // namespace berth::scheduler::algorithmprovider
