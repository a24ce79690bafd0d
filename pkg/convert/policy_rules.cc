#include "pkg/convert/policy_rules.h"

namespace berth::convert {
namespace {

using release::Since;
using release::Until;
constexpr release::Span kAlways{};

// Node conditions became taints by default (gate TaintNodesByCondition), and the predicates about them went.
constexpr release::Span kConditions = Until(12);

constexpr PolicyRule kPredicates[] = {
    {"CheckNodeCondition", kConditions, "CheckNodeCondition"},
    {"CheckNodeUnschedulable", Since(12), "NodeUnschedulable"},
    {"HostName", kAlways, "NodeName"},
    {"PodFitsHostPorts", kAlways, "NodePorts"},
    {"PodFitsPorts", kAlways, "NodePorts", true},
    {"MatchNodeSelector", kAlways, "NodeAffinity"},
    {"PodFitsResources", kAlways, "NodeResourcesFit"},
    {"NoDiskConflict", kAlways, "VolumeRestrictions"},
    {"PodToleratesNodeTaints", kAlways, "TaintToleration"},
    {"MaxEBSVolumeCount", kAlways, "EBSLimits"},
    {"MaxGCEPDVolumeCount", kAlways, "GCEPDLimits"},
    {"MaxCSIVolumeCountPred", Since(12), "NodeVolumeLimits"},
    {"MaxAzureDiskVolumeCount", kAlways, "AzureDiskLimits"},
    {"MaxCinderVolumeCount", Since(14), "CinderLimits"},
    {"CheckVolumeBinding", Since(9), "VolumeBinding"},
    {"NoVolumeNodeConflict", Until(9), "VolumeBinding"},
    {"NoVolumeZoneConflict", kAlways, "VolumeZone"},
    {"CheckNodeMemoryPressure", kConditions, "CheckNodeMemoryPressure"},
    {"CheckNodePIDPressure", {.since = {11}, .until = {12}}, "CheckNodePIDPressure"},
    {"CheckNodeDiskPressure", kConditions, "CheckNodeDiskPressure"},
    {"EvenPodsSpread", Since(16), "PodTopologySpread"},
    {"MatchInterPodAffinity", kAlways, "InterPodAffinity"},
};

constexpr PolicyRule kPriorities[] = {
    {"BalancedResourceAllocation", kAlways, "NodeResourcesBalancedAllocation"},
    {"EqualPriority", kAlways, ""},
    {"EvenPodsSpreadPriority", Since(16), "PodTopologySpread"},
    {"ImageLocalityPriority", kAlways, "ImageLocality"},
    {"InterPodAffinityPriority", kAlways, "InterPodAffinity"},
    {"LeastRequestedPriority", kAlways, "NodeResourcesLeastAllocated"},
    {"MostRequestedPriority", kAlways, "NodeResourcesMostAllocated"},
    {"NodeAffinityPriority", kAlways, "NodeAffinity"},
    {"NodePreferAvoidPodsPriority", kAlways, "NodePreferAvoidPods"},
    {"RequestedToCapacityRatioPriority", Since(12), "RequestedToCapacityRatio"},
    {"ResourceLimitsPriority", Since(9), "ResourceLimitsPriority"},
    {"SelectorSpreadPriority", kAlways, "SelectorSpread"},
    {"ServiceSpreadingPriority", kAlways, "SelectorSpread", true},
    {"TaintTolerationPriority", kAlways, "TaintToleration"},
};

constexpr std::string_view kGeneralParts[] = {"NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity"};

}  // namespace

std::span<const PolicyRule> Predicates() {
  return kPredicates;
}
std::span<const PolicyRule> Priorities() {
  return kPriorities;
}
std::span<const std::string_view> GeneralParts() {
  return kGeneralParts;
}

const PolicyRule* FindRule(std::span<const PolicyRule> rules, std::string_view name) {
  for (const PolicyRule& r : rules) {
    if (r.name == name) return &r;
  }
  return nullptr;
}

const PolicyRule* NamedIn(std::span<const PolicyRule> rules, std::string_view rule, release::Version release) {
  for (const PolicyRule& r : rules) {
    if (r.rule == rule && !r.alias && r.in.Has(release)) return &r;
  }
  return nullptr;
}

}  // namespace berth::convert
