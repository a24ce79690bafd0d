// Determines which plugins a profile runs at each extension point: merges it with the default plugins, expands
// multiPoint, and computes weights and order. Source: pkg/scheduler/apis/config/v1/default_plugins.go and
// pkg/scheduler/framework/runtime/framework.go (1.29).
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/scheduler/configuration/args.h"
#include "pkg/scheduler/configuration/plugins.h"
#include "pkg/scheduler/configuration/problem.h"
#include "pkg/scheduler/configuration/types.h"

namespace berth::scheduler::configuration {

// A profile after all names have been resolved. A scheduler is built from it.
struct ResolvedProfile {
  struct Plugin {
    std::string name;
    int64_t weight = 0;  // set at kScore only, where it is never 0
    friend bool operator==(const Plugin&, const Plugin&) = default;
  };

  std::string scheduler_name;
  std::array<std::vector<Plugin>, kExtensionPointCount> points;  // in calling order
  std::map<std::string, PluginArgs, std::less<>> args;           // of every enabled plugin that takes arguments
  bool always_check_all_filters = false;  // whether all Filter plugins are called for a node that one has rejected
  Gates gates;

  const std::vector<Plugin>& at(ExtensionPoint p) const { return points[static_cast<size_t>(p)]; }
  std::vector<Plugin>& at(ExtensionPoint p) { return points[static_cast<size_t>(p)]; }
  // Returns whether the plugin is called at this extension point.
  bool Has(ExtensionPoint p, std::string_view plugin) const;
  // Returns the arguments of a plugin: those in the file, or the defaults.
  template <typename T>
  T Args(std::string_view plugin) const {
    auto it = args.find(plugin);
    return it != args.end() ? it->second.template Get<T>() : T();
  }
};

// Returns the profiles of a decoded configuration in its order. Appends to `problems` all errors that 1.29 finds when
// it builds the profiles: unknown plugins, plugins that do not implement their extension point, duplicate plugins, a
// missing queueSort or bind plugin, and invalid arguments of NodeResourcesFit. The result is meaningful only if there
// are no problems. Appends to `notices` what has no effect, such as disabling a plugin that does not exist.
std::vector<ResolvedProfile> ResolveProfiles(const KubeSchedulerConfiguration& c, const PluginCatalogue& catalogue,
                                             const Gates& gates, std::vector<Problem>* problems,
                                             std::vector<std::string>* notices);

// Returns the profile that runs without a configuration: the default plugins, named "default-scheduler".
ResolvedProfile DefaultProfile(const PluginCatalogue& catalogue, const Gates& gates = {});

}  // namespace berth::scheduler::configuration
