#include "pkg/scheduler/configuration/plugins.h"

#include <array>

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

struct InTreePlugin {
  std::string_view name;
  ExtensionPointSet points;
};
constexpr ExtensionPointSet kFiltering = {kPreFilter, kFilter};
constexpr ExtensionPointSet kScoring = {kPreScore, kScore};
constexpr ExtensionPointSet kFilteringAndScoring = {kPreFilter, kFilter, kPreScore, kScore};
const InTreePlugin kInTree[] = {
    {"AzureDiskLimits", kFiltering},
    {"CinderLimits", kFiltering},
    {"DefaultBinder", {kBind}},
    {"DefaultPreemption", {kPostFilter}},
    {"DynamicResources", {kPreEnqueue, kPreFilter, kFilter, kPostFilter, kPreScore, kReserve, kPostBind}},
    {"EBSLimits", kFiltering},
    {"GCEPDLimits", kFiltering},
    {"ImageLocality", {kScore}},
    {"InterPodAffinity", kFilteringAndScoring},
    {"NodeAffinity", kFilteringAndScoring},
    {"NodeName", {kFilter}},
    {"NodePorts", kFiltering},
    {"NodeResourcesBalancedAllocation", kScoring},
    {"NodeResourcesFit", kFilteringAndScoring},
    {"NodeUnschedulable", {kFilter}},
    {"NodeVolumeLimits", kFiltering},
    {"PodTopologySpread", kFilteringAndScoring},
    {"PrioritySort", {kQueueSort}},
    {"SchedulingGates", {kPreEnqueue}},
    {"TaintToleration", {kFilter, kPreScore, kScore}},
    {"VolumeBinding", {kPreFilter, kFilter, kReserve, kPreBind, kScore}},
    {"VolumeRestrictions", kFiltering},
    {"VolumeZone", kFiltering},
};

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

PluginCatalogue PluginCatalogue::InTree() {
  PluginCatalogue c;
  for (const InTreePlugin& p : kInTree) c.Add(p.name, p.points);
  return c;
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

std::vector<DefaultPlugin> DefaultPlugins(const Gates& gates) {
  // The order decides in which order plugins are called.
  std::vector<DefaultPlugin> plugins = {
      {"PrioritySort", 0},  {"NodeUnschedulable", 0}, {"NodeName", 0},          {"TaintToleration", 3},
      {"NodeAffinity", 2},  {"NodePorts", 0},         {"NodeResourcesFit", 1},  {"VolumeRestrictions", 0},
      {"EBSLimits", 0},     {"GCEPDLimits", 0},       {"NodeVolumeLimits", 0},  {"AzureDiskLimits", 0},
      {"VolumeBinding", 0}, {"VolumeZone", 0},        {"PodTopologySpread", 2}, {"InterPodAffinity", 2}};
  if (gates.dynamic_resource_allocation) plugins.push_back({"DynamicResources", 0});
  plugins.insert(
      plugins.end(),
      {{"DefaultPreemption", 0}, {"NodeResourcesBalancedAllocation", 1}, {"ImageLocality", 1}, {"DefaultBinder", 0}});
  if (gates.pod_scheduling_readiness) plugins.push_back({"SchedulingGates", 0});
  return plugins;
}

}  // namespace berth::scheduler::configuration
