// The plugins of release 1.36, and those that are enabled by default. Source:
// pkg/scheduler/framework/plugins/registry.go and pkg/scheduler/apis/config/v1/default_plugins.go (1.36).
#include "pkg/scheduler/configuration/plugins.h"

#include "pkg/releases/v1_36/decides.h"

namespace berth::releases::v1_36 {
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
    {"DefaultBinder", {kBind}},
    {"DefaultPreemption", {kPostFilter, kPreEnqueue}},
    {"DynamicResources", {kPreEnqueue, kPreFilter, kFilter, kPostFilter, kScore, kReserve, kPreBind}},
    {"ImageLocality", {kScore}},
    {"InterPodAffinity", kFilteringAndScoring},
    {"NodeAffinity", kFilteringAndScoring},
    {"NodeDeclaredFeatures", kFiltering},
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
    {"VolumeBinding", {kPreFilter, kFilter, kReserve, kPreBind, kPreScore, kScore}},
    {"VolumeRestrictions", kFiltering},
    {"VolumeZone", kFiltering},
};

std::vector<DefaultPlugin> DefaultPlugins(const Gates&) {
  // The order decides in which order plugins are called.
  return {{"SchedulingGates", 0},
          {"PrioritySort", 0},
          {"NodeUnschedulable", 0},
          {"NodeName", 0},
          {"TaintToleration", 3},
          {"NodeAffinity", 2},
          {"NodePorts", 0},
          {"NodeResourcesFit", 1},
          {"VolumeRestrictions", 0},
          {"NodeVolumeLimits", 0},
          {"VolumeBinding", 0},
          {"VolumeZone", 0},
          {"PodTopologySpread", 2},
          {"InterPodAffinity", 2},
          {"DynamicResources", 2},
          {"DefaultPreemption", 0},
          {"NodeResourcesBalancedAllocation", 1},
          {"ImageLocality", 1},
          {"DefaultBinder", 0},
          {"NodeDeclaredFeatures", 0}};
}

}  // namespace

const PluginCatalogue& Plugins() {
  static const PluginCatalogue kCatalogue({36}, kInTree, DefaultPlugins);
  return kCatalogue;
}

}  // namespace berth::releases::v1_36
