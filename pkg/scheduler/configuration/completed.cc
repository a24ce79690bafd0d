#include "pkg/scheduler/configuration/completed.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "pkg/scheduler/configuration/plugin_sets.h"
#include "pkg/scheduler/configuration/versions.h"
#include "pkg/util/contract.h"

namespace berth::scheduler::configuration {
namespace {

bool Names(const std::vector<Plugin>& plugins, std::string_view name) {
  return std::any_of(plugins.begin(), plugins.end(), [&](const Plugin& p) { return p.name == name; });
}

// Returns the names of all plugins that the profile enables.
std::set<std::string> EnabledBy(const Plugins& plugins) {
  std::set<std::string> names;
  for (const Plugin& p : plugins.multi_point.enabled) names.insert(p.name);
  for (const ExtensionPoint point : ExtensionPoints()) {
    for (const Plugin& p : SetOf(plugins, point).enabled) names.insert(p.name);
  }
  return names;
}

}  // namespace

std::vector<Plugin> MergedMultiPoint(const PluginSet& custom, const PluginCatalogue& catalogue, const Gates& gates) {
  BERTH_REQUIRES(catalogue.has_multi_point());
  std::vector<Plugin> merged;
  std::set<size_t> replaced;
  if (!Names(custom.disabled, "*")) {
    for (const DefaultPlugin& d : catalogue.DefaultPlugins(gates)) {
      Plugin plugin{std::string(d.name), d.weight};
      if (Names(custom.disabled, d.name)) continue;
      // If the profile enables a plugin several times, the last entry counts.
      for (size_t i = custom.enabled.size(); i-- > 0;) {
        if (custom.enabled[i].name != d.name) continue;
        plugin = custom.enabled[i];
        replaced.insert(i);
        break;
      }
      merged.push_back(std::move(plugin));
    }
  }
  for (size_t i = 0; i < custom.enabled.size(); ++i) {
    if (!replaced.contains(i)) merged.push_back(custom.enabled[i]);
  }
  return merged;
}

std::vector<PluginConfig> DefaultPluginConfig(const Gates& gates) {
  VolumeBindingArgs volumes;
  volumes.shape = DefaultVolumeShape(gates);
  return {{"DefaultPreemption", {DefaultPreemptionArgs(), ""}},
          {"InterPodAffinity", {InterPodAffinityArgs(), ""}},
          {"NodeAffinity", {NodeAffinityArgs(), ""}},
          {"NodeResourcesBalancedAllocation", {NodeResourcesBalancedAllocationArgs(), ""}},
          {"NodeResourcesFit", {NodeResourcesFitArgs(), ""}},
          {"PodTopologySpread", {PodTopologySpreadArgs(), ""}},
          {"VolumeBinding", {volumes, ""}}};
}

Profile Completed(Profile profile, const PluginCatalogue& catalogue, const Gates& gates) {
  BERTH_REQUIRES(catalogue.has_multi_point());
  profile.plugins.multi_point.enabled = MergedMultiPoint(profile.plugins.multi_point, catalogue, gates);
  const std::set<std::string> enabled = EnabledBy(profile.plugins);
  std::set<std::string> given;
  for (const PluginConfig& config : profile.plugin_config) given.insert(config.name);
  std::vector<PluginConfig> defaults = DefaultPluginConfig(gates);
  if (HasDeviceArguments(catalogue.release())) {
    const DynamicResourcesArgs devices{absl::Seconds(10), absl::Minutes(10)};
    defaults.insert(defaults.begin() + 1, {"DynamicResources", {devices, ""}});
  }
  for (PluginConfig& config : defaults) {
    if (enabled.contains(config.name) && !given.contains(config.name)) {
      profile.plugin_config.push_back(std::move(config));
    }
  }
  return profile;
}

}  // namespace berth::scheduler::configuration
