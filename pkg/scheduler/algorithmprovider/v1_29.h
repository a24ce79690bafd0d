// Release 1.29: its plugins as registered rules, and what the incremental scheduler runs for a profile.
#pragma once
#include <optional>

#include "pkg/scheduler/configuration/profile.h"
#include "pkg/scheduler/registry/algorithm_config.h"
#include "pkg/scheduler/registry/release.h"

namespace berth::scheduler::algorithmprovider {

const Release& V1_29();

// Returns the rules of a profile with its weights and arguments, or nothing when the profile has a plugin, or a
// combination of extension points, that only the reference scheduler of the release knows. The rules decide pods
// without volumes. REQUIRES: the cache counts as V1_29().describe_template does, and outlives the rules.
std::optional<AlgorithmConfig> AlgorithmOf(const configuration::ResolvedProfile& profile, Cache* cache);

}  // namespace berth::scheduler::algorithmprovider
