// What the names in a Policy stand for in release 1.19. Source: pkg/scheduler/framework/plugins/legacy_registry.go
// (1.19).
#include "pkg/releases/v1_19/decides.h"

namespace berth::releases::v1_19 {

using Names = scheduler::configuration::PolicyNames;
using enum scheduler::configuration::ExtensionPoint;

const Names& PolicyNames() {
  static const Names::Predicate kPredicates[] = {
      {.name = "CheckNodeUnschedulable", .plugins = {"NodeUnschedulable"}, .mandatory = true},
      {.name = "GeneralPredicates",
       .plugins = {"NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity"},
       .by_default = true},
      {.name = "HostName", .plugins = {"NodeName"}},
      {.name = "PodFitsHostPorts", .plugins = {"NodePorts"}},
      {.name = "MatchNodeSelector", .plugins = {"NodeAffinity"}},
      {.name = "PodFitsResources", .plugins = {"NodeResourcesFit"}},
      {.name = "NoDiskConflict", .plugins = {"VolumeRestrictions"}, .by_default = true},
      {.name = "PodToleratesNodeTaints", .plugins = {"TaintToleration"}, .mandatory = true},
      {.name = "CheckNodeLabelPresence", .plugins = {"NodeLabel"}},
      {.name = "CheckServiceAffinity", .plugins = {"ServiceAffinity"}},
      {.name = "MaxEBSVolumeCount", .plugins = {"EBSLimits"}, .by_default = true},
      {.name = "MaxGCEPDVolumeCount", .plugins = {"GCEPDLimits"}, .by_default = true},
      {.name = "MaxCSIVolumeCountPred", .plugins = {"NodeVolumeLimits"}, .by_default = true},
      {.name = "MaxAzureDiskVolumeCount", .plugins = {"AzureDiskLimits"}, .by_default = true},
      {.name = "MaxCinderVolumeCount", .plugins = {"CinderLimits"}},
      {.name = "CheckVolumeBinding", .plugins = {"VolumeBinding"}, .by_default = true},
      {.name = "NoVolumeZoneConflict", .plugins = {"VolumeZone"}, .by_default = true},
      {.name = "EvenPodsSpread", .plugins = {"PodTopologySpread"}, .by_default = true},
      {.name = "MatchInterPodAffinity", .plugins = {"InterPodAffinity"}, .by_default = true},
  };
  static constexpr Names::Priority kPriorities[] = {
      {"BalancedResourceAllocation", "NodeResourcesBalancedAllocation", 1},
      {"EqualPriority", ""},
      {"EvenPodsSpreadPriority", "PodTopologySpread", 2},
      {"ImageLocalityPriority", "ImageLocality", 1},
      {"InterPodAffinityPriority", "InterPodAffinity", 1},
      {"LeastRequestedPriority", "NodeResourcesLeastAllocated", 1},
      {"MostRequestedPriority", "NodeResourcesMostAllocated"},
      {"NodeAffinityPriority", "NodeAffinity", 1},
      {"NodeLabel", "NodeLabel"},
      {"NodePreferAvoidPodsPriority", "NodePreferAvoidPods", 10000},
      {"RequestedToCapacityRatio", "RequestedToCapacityRatio"},
      {"SelectorSpreadPriority", "SelectorSpread", 1},
      {"ServiceAffinity", "ServiceAffinity"},
      {"TaintTolerationPriority", "TaintToleration", 1},
  };
  static constexpr Names::Alias kAliases[] = {{"PodFitsPorts", "PodFitsHostPorts"},
                                              {"ServiceSpreadingPriority", "SelectorSpreadPriority"}};
  static const std::pair<scheduler::configuration::ExtensionPoint, std::string_view> kAlways[] = {
      {kQueueSort, "PrioritySort"}, {kPostFilter, "DefaultPreemption"}, {kBind, "DefaultBinder"}};
  static const Names kNames = {
      .predicates = kPredicates,
      .priorities = kPriorities,
      .aliases = kAliases,
      .labels_presence = "CheckNodeLabelPresence",
      .service_affinity = "CheckServiceAffinity",
      .label_preference = "NodeLabel",
      .service_anti_affinity = "ServiceAffinity",
      .ratio = "RequestedToCapacityRatio",
      .affinity = "InterPodAffinityPriority",
      .always = kAlways,
  };
  return kNames;
}

}  // namespace berth::releases::v1_19
