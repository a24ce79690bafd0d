// The plugins of release 1.29, and those that are enabled by default. Source:
// pkg/scheduler/framework/plugins/registry.go and pkg/scheduler/apis/config/v1/default_plugins.go (1.29).
#include "pkg/scheduler/configuration/plugins.h"

#include "pkg/releases/v1_29/decides.h"

namespace berth::releases::v1_29 {
namespace {

using scheduler::configuration::DefaultPlugin;
using scheduler::configuration::ExtensionPointSet;
using scheduler::configuration::Gates;
using scheduler::configuration::PluginCatalogue;
using enum scheduler::configuration::ExtensionPoint;

constexpr ExtensionPointSet kFiltering = {kPreFilter, kFilter};
constexpr ExtensionPointSet kScoring = {kPreScore, kScore};
constexpr ExtensionPointSet kFilteringAndScoring = {kPreFilter, kFilter, kPreScore, kScore};
const PluginCatalogue::Plugin kInTree[] = {
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

}  // namespace

const PluginCatalogue& Plugins() {
  static const PluginCatalogue kCatalogue({29}, kInTree, DefaultPlugins);
  return kCatalogue;
}

}  // namespace berth::releases::v1_29
