// Profiles of releases without multiPoint (v1beta1): each extension point has a list of default plugins of its own, and
// a profile takes plugins away from it and appends others. Source: pkg/scheduler/apis/config/types.go (Plugins.Apply)
// and pkg/scheduler/framework/runtime/framework.go (1.19).
#pragma once
#include <string>
#include <vector>

#include "pkg/scheduler/configuration/profile.h"

namespace berth::scheduler::configuration {

// Returns what a profile runs. Appends to `problems` the errors that 1.19 finds when it builds the profile, the first
// one first, and to `notices` what has no effect. `path` is the path of the profile. REQUIRES:
// !catalogue.has_multi_point().
ResolvedProfile ResolveByPoint(const Profile& profile, const std::string& path, const PluginCatalogue& catalogue,
                               std::vector<Problem>* problems, std::vector<std::string>* notices);

// Completes a profile whose plugins and arguments are known already: checks that the plugins exist, that none is listed
// twice, that there is one queueSort and a bind plugin, and that the weights and arguments are allowed.
void CheckByPoint(const ResolvedProfile& profile, const std::string& path, const PluginCatalogue& catalogue,
                  std::vector<Problem>* problems);

}  // namespace berth::scheduler::configuration
