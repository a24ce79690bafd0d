// The plugins of release 1.19, and those of its algorithm providers. Source:
// pkg/scheduler/framework/plugins/registry.go and pkg/scheduler/algorithmprovider/registry.go (1.19).
#include "pkg/scheduler/configuration/plugins.h"

#include "pkg/releases/v1_19/decides.h"

namespace berth::releases::v1_19 {
namespace {

using scheduler::configuration::DefaultPlugin;
using scheduler::configuration::ExtensionPoint;
using scheduler::configuration::ExtensionPointSet;
using scheduler::configuration::PluginCatalogue;
using enum scheduler::configuration::ExtensionPoint;

constexpr ExtensionPointSet kPreparedFilter = {kPreFilter, kFilter};
constexpr ExtensionPointSet kFilterAndScore = {kPreFilter, kFilter, kPreScore, kScore};
const PluginCatalogue::Plugin kInTree[] = {
    {"AzureDiskLimits", {kFilter}},
    {"CinderLimits", {kFilter}},
    {"DefaultBinder", {kBind}},
    {"DefaultPreemption", {kPostFilter}},
    {"EBSLimits", {kFilter}},
    {"GCEPDLimits", {kFilter}},
    {"ImageLocality", {kScore}},
    {"InterPodAffinity", kFilterAndScore},
    {"NodeAffinity", {kFilter, kScore}},
    {"NodeLabel", {kFilter, kScore}},
    {"NodeName", {kFilter}},
    {"NodePorts", kPreparedFilter},
    {"NodePreferAvoidPods", {kScore}},
    {"NodeResourcesBalancedAllocation", {kScore}},
    {"NodeResourcesFit", kPreparedFilter},
    {"NodeResourcesLeastAllocated", {kScore}},
    {"NodeResourcesMostAllocated", {kScore}},
    {"NodeUnschedulable", {kFilter}},
    {"NodeVolumeLimits", {kFilter}},
    {"PodTopologySpread", kFilterAndScore},
    {"PrioritySort", {kQueueSort}},
    {"RequestedToCapacityRatio", {kScore}},
    {"SelectorSpread", {kPreScore, kScore}},
    {"ServiceAffinity", {kPreFilter, kFilter, kScore}},
    {"TaintToleration", {kFilter, kPreScore, kScore}},
    {"VolumeBinding", {kPreFilter, kFilter, kReserve, kPreBind}},
    {"VolumeRestrictions", {kFilter}},
    {"VolumeZone", {kFilter}},
};

// The lists are in calling order.
std::vector<DefaultPlugin> OfDefaultProvider(ExtensionPoint point) {
  switch (point) {
    case kQueueSort:
      return {{"PrioritySort", 0}};
    case kPreFilter:
      return {{"NodeResourcesFit", 0},
              {"NodePorts", 0},
              {"PodTopologySpread", 0},
              {"InterPodAffinity", 0},
              {"VolumeBinding", 0}};
    case kFilter:
      return {{"NodeUnschedulable", 0}, {"NodeResourcesFit", 0},   {"NodeName", 0},        {"NodePorts", 0},
              {"NodeAffinity", 0},      {"VolumeRestrictions", 0}, {"TaintToleration", 0}, {"EBSLimits", 0},
              {"GCEPDLimits", 0},       {"NodeVolumeLimits", 0},   {"AzureDiskLimits", 0}, {"VolumeBinding", 0},
              {"VolumeZone", 0},        {"PodTopologySpread", 0},  {"InterPodAffinity", 0}};
    case kPostFilter:
      return {{"DefaultPreemption", 0}};
    case kPreScore:
      return {{"InterPodAffinity", 0}, {"PodTopologySpread", 0}, {"TaintToleration", 0}, {"SelectorSpread", 0}};
    case kScore:
      return {{"NodeResourcesBalancedAllocation", 1},
              {"ImageLocality", 1},
              {"InterPodAffinity", 1},
              {"NodeResourcesLeastAllocated", 1},
              {"NodeAffinity", 1},
              {"NodePreferAvoidPods", 10000},
              {"PodTopologySpread", 2},
              {"TaintToleration", 1},
              {"SelectorSpread", 1}};
    case kReserve:
    case kPreBind:
      return {{"VolumeBinding", 0}};
    case kBind:
      return {{"DefaultBinder", 0}};
    case kPostBind:
    case kPermit:
    case kPreEnqueue:
      break;
  }
  return {};
}

std::vector<DefaultPlugin> OfClusterAutoscalerProvider(ExtensionPoint point) {
  std::vector<DefaultPlugin> plugins = OfDefaultProvider(point);
  for (DefaultPlugin& p : plugins) {
    if (p.name == "NodeResourcesLeastAllocated") p.name = "NodeResourcesMostAllocated";
  }
  return plugins;
}

constexpr PluginCatalogue::Provider kProviders[] = {
    {scheduler::kDefaultProvider, OfDefaultProvider},
    {scheduler::kClusterAutoscalerProvider, OfClusterAutoscalerProvider},
};

}  // namespace

const PluginCatalogue& Plugins() {
  static const PluginCatalogue kCatalogue({19}, kInTree, kProviders);
  return kCatalogue;
}

}  // namespace berth::releases::v1_19
