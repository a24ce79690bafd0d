// What a release makes of a profile before it uses it, which is what it shows of its configuration.
#pragma once
#include <vector>

#include "pkg/scheduler/configuration/plugins.h"
#include "pkg/scheduler/configuration/types.h"

namespace berth::scheduler::configuration {

// Returns the multiPoint list: the default plugins with the changes of a profile. A default plugin that the profile
// also enables keeps its place but gets the weight of the profile, even if the profile gives none. Source:
// mergePluginSet in pkg/scheduler/apis/config/v1/default_plugins.go. REQUIRES: catalogue.has_multi_point().
std::vector<Plugin> MergedMultiPoint(const PluginSet& custom, const PluginCatalogue& catalogue, const Gates& gates);

// Returns the plugins whose arguments act, in the order of names, and what these are without a file.
std::vector<PluginConfig> DefaultPluginConfig(const Gates& gates);

// Returns the profile with the whole multiPoint list, and with arguments for every plugin that it enables and that has
// some: those of the profile, followed by the default ones in the order of names. REQUIRES: has_multi_point().
Profile Completed(Profile profile, const PluginCatalogue& catalogue, const Gates& gates);

}  // namespace berth::scheduler::configuration
