#include "pkg/scheduler/configuration/plugins.h"

#include <array>

#include "pkg/util/contract.h"

namespace berth::scheduler::configuration {
namespace {

using enum ExtensionPoint;

struct PointNames {
  std::string_view field, interface;
};
// Invariant: indexed by ExtensionPoint.
constexpr std::array<PointNames, kExtensionPointCount> kNames = {{{"preFilter", "PreFilterPlugin"},
                                                                  {"filter", "FilterPlugin"},
                                                                  {"postFilter", "PostFilterPlugin"},
                                                                  {"reserve", "ReservePlugin"},
                                                                  {"preScore", "PreScorePlugin"},
                                                                  {"score", "ScorePlugin"},
                                                                  {"preBind", "PreBindPlugin"},
                                                                  {"bind", "BindPlugin"},
                                                                  {"postBind", "PostBindPlugin"},
                                                                  {"permit", "PermitPlugin"},
                                                                  {"preEnqueue", "PreEnqueuePlugin"},
                                                                  {"queueSort", "QueueSortPlugin"}}};

constexpr std::array<ExtensionPoint, kExtensionPointCount> kPoints = {kPreFilter, kFilter, kPostFilter, kReserve,
                                                                      kPreScore,  kScore,  kPreBind,    kBind,
                                                                      kPostBind,  kPermit, kPreEnqueue, kQueueSort};

}  // namespace

std::span<const ExtensionPoint> ExtensionPoints() {
  return kPoints;
}
std::string_view FieldName(ExtensionPoint p) {
  return kNames[static_cast<size_t>(p)].field;
}
std::string_view InterfaceName(ExtensionPoint p) {
  return kNames[static_cast<size_t>(p)].interface;
}

PluginCatalogue::PluginCatalogue(release::Version release, std::span<const Plugin> plugins, Defaults defaults)
    : release_(release), defaults_(defaults) {
  for (const Plugin& p : plugins) Add(p.name, p.points);
}

PluginCatalogue::PluginCatalogue(release::Version release, std::span<const Plugin> plugins,
                                 std::span<const Provider> providers)
    : release_(release), providers_(providers), provider_(&providers.front()) {
  BERTH_REQUIRES(!providers.empty());
  for (const Plugin& p : plugins) Add(p.name, p.points);
}

bool PluginCatalogue::UseProvider(std::string_view name) {
  for (const Provider& p : providers_) {
    if (p.name != name) continue;
    provider_ = &p;
    return true;
  }
  return false;
}

std::vector<std::string> PluginCatalogue::ProviderNames() const {
  std::vector<std::string> names;
  for (const Provider& p : providers_) names.emplace_back(p.name);
  return names;
}

// A plugin may be registered in several steps, for example first as a predicate and then as a priority.
void PluginCatalogue::Add(std::string_view name, ExtensionPointSet points) {
  ExtensionPointSet& known = plugins_[std::string(name)];
  for (ExtensionPoint p : kPoints) {
    if (points.Has(p)) known.Add(p);
  }
}

bool PluginCatalogue::Implements(std::string_view name, ExtensionPoint p) const {
  auto it = plugins_.find(name);
  return it != plugins_.end() && it->second.Has(p);
}

std::vector<std::string> PluginCatalogue::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, points] : plugins_) names.push_back(name);
  return names;
}

std::vector<std::string> PluginCatalogue::Names(ExtensionPoint p) const {
  std::vector<std::string> names;
  for (const auto& [name, points] : plugins_) {
    if (points.Has(p)) names.push_back(name);
  }
  return names;
}

}  // namespace berth::scheduler::configuration
