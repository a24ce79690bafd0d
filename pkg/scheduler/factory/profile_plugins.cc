#include "pkg/scheduler/factory/profile_plugins.h"

#include "pkg/scheduler/factory/factory.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {

configuration::PluginCatalogue PluginsToConfigure(const Release& release) {
  BERTH_REQUIRES(release.plugins != nullptr);
  using enum configuration::ExtensionPoint;
  configuration::PluginCatalogue catalogue = release.plugins();
  const Registry own = PluginAlgorithms();
  for (const auto& [name, factory] : own.predicates()) catalogue.Add(name, {kPreFilter, kFilter});
  for (const auto& [name, priority] : own.priorities()) catalogue.Add(name, {kPreScore, kScore});
  return catalogue;
}

}  // namespace berth::scheduler
