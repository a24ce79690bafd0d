#include "pkg/scheduler/factory/profile_plugins.h"

#include "pkg/scheduler/algorithmprovider/releases.h"
#include "pkg/scheduler/factory/factory.h"

namespace berth::scheduler {

configuration::PluginCatalogue PluginsToConfigure() {
  using enum configuration::ExtensionPoint;
  configuration::PluginCatalogue catalogue = configuration::PluginCatalogue::InTree();
  Registry built_in;
  // What the default release does not have by itself was registered through plugin/.
  algorithmprovider::DefaultRelease().register_algorithms(&built_in);
  const Registry& all = RegisteredAlgorithms();
  for (const auto& [name, factory] : all.predicates()) {
    if (!built_in.predicates().contains(name)) catalogue.Add(name, {kPreFilter, kFilter});
  }
  for (const auto& [name, priority] : all.priorities()) {
    if (!built_in.priorities().contains(name)) catalogue.Add(name, {kPreScore, kScore});
  }
  return catalogue;
}

}  // namespace berth::scheduler
