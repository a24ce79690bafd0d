// From a profile of a KubeSchedulerConfiguration to the plugins that run at each extension point: merging with the
// default plugins, expansion of multiPoint, weights and order (Kubernetes 1.29 apis/config/v1 and framework/runtime).
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

// A profile with nothing left to look up. What a scheduler is built from.
struct ResolvedProfile {
  struct Plugin {
    std::string name;
    int64_t weight = 0;  // at kScore only, where it is never 0
    friend bool operator==(const Plugin&, const Plugin&) = default;
  };

  std::string scheduler_name;
  std::array<std::vector<Plugin>, kExtensionPointCount> points;  // in the order in which the plugins are called
  std::map<std::string, PluginArgs, std::less<>> args;           // of every enabled plugin that takes arguments

  const std::vector<Plugin>& at(ExtensionPoint p) const { return points[static_cast<size_t>(p)]; }
  std::vector<Plugin>& at(ExtensionPoint p) { return points[static_cast<size_t>(p)]; }
  // Returns true when the plugin is called at this extension point.
  bool Has(ExtensionPoint p, std::string_view plugin) const;
  // Returns the arguments of a plugin: the file's, or the defaults.
  template <typename T>
  T Args(std::string_view plugin) const {
    auto it = args.find(plugin);
    return it != args.end() ? it->second.template Get<T>() : T();
  }
};

// Returns the profiles of a decoded configuration, in its order. Appends to `problems` everything that 1.29 finds when
// it builds the profiles: unknown plugins, plugins that do not implement their extension point, plugins listed twice,
// a missing queueSort or bind plugin, wrong arguments of NodeResourcesFit. The result is only of use without problems.
// Appends to `notices` what has no effect, such as disabling a plugin that does not exist.
std::vector<ResolvedProfile> ResolveProfiles(const KubeSchedulerConfiguration& c, const PluginCatalogue& catalogue,
                                             const Gates& gates, std::vector<Problem>* problems,
                                             std::vector<std::string>* notices);

// Returns the profile that runs when there is no configuration: the default plugins under the name
// "default-scheduler".
ResolvedProfile DefaultProfile(const PluginCatalogue& catalogue, const Gates& gates = {});

}  // namespace berth::scheduler::configuration
