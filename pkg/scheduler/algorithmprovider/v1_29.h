// Release 1.29: its plugins as registered rules, and what the incremental scheduler runs for a profile.
#pragma once
#include <absl/status/statusor.h>

#include "pkg/scheduler/configuration/profile.h"
#include "pkg/scheduler/registry/algorithm_config.h"
#include "pkg/scheduler/registry/release.h"

namespace berth::scheduler::algorithmprovider {

const Release& V1_29();

// Returns the rules of a profile with its weights and arguments. `others` has the rules of plugin/. REQUIRES:
// args.cache counts as V1_29().describe_template does, and outlives the rules. Error: a plugin that is not registered.
absl::StatusOr<AlgorithmConfig> AlgorithmOf(const configuration::ResolvedProfile& profile, PluginFactoryArgs args,
                                            const Registry& others);

}  // namespace berth::scheduler::algorithmprovider
