#include "pkg/convert/policy_rules.h"

namespace berth::convert {
namespace {

namespace history = release::history;
constexpr release::Span kAlways{}, kConditions = history::kConditionPredicates;

constexpr PolicyRule kPredicates[] = {
    {"CheckNodeCondition", kConditions, "CheckNodeCondition"},
    {"CheckNodeUnschedulable", history::kConditionTaints, "NodeUnschedulable"},
    {"HostName", kAlways, "NodeName"},
    {"PodFitsHostPorts", kAlways, "NodePorts"},
    {"PodFitsPorts", kAlways, "NodePorts", true},
    {"MatchNodeSelector", kAlways, "NodeAffinity"},
    {"PodFitsResources", kAlways, "NodeResourcesFit"},
    {"NoDiskConflict", kAlways, "VolumeRestrictions"},
    {"PodToleratesNodeTaints", kAlways, "TaintToleration"},
    {"MaxEBSVolumeCount", kAlways, "EBSLimits"},
    {"MaxGCEPDVolumeCount", kAlways, "GCEPDLimits"},
    {"MaxCSIVolumeCountPred", history::kMaxCsiVolumeCount, "NodeVolumeLimits"},
    {"MaxAzureDiskVolumeCount", kAlways, "AzureDiskLimits"},
    {"MaxCinderVolumeCount", history::kMaxCinderVolumeCount, "CinderLimits"},
    {"CheckVolumeBinding", history::kCheckVolumeBinding, "VolumeBinding"},
    {"NoVolumeNodeConflict", history::kNoVolumeNodeConflict, "VolumeBinding"},
    {"NoVolumeZoneConflict", kAlways, "VolumeZone"},
    {"CheckNodeMemoryPressure", kConditions, "CheckNodeMemoryPressure"},
    {"CheckNodePIDPressure", history::kPidPressurePredicate, "CheckNodePIDPressure"},
    {"CheckNodeDiskPressure", kConditions, "CheckNodeDiskPressure"},
    {"EvenPodsSpread", history::kEvenPodsSpread, "PodTopologySpread"},
    {"MatchInterPodAffinity", kAlways, "InterPodAffinity"},
};

constexpr PolicyRule kPriorities[] = {
    {"BalancedResourceAllocation", kAlways, "NodeResourcesBalancedAllocation"},
    {"EqualPriority", kAlways, ""},
    {"EvenPodsSpreadPriority", history::kEvenPodsSpread, "PodTopologySpread"},
    {"ImageLocalityPriority", kAlways, "ImageLocality"},
    {"InterPodAffinityPriority", kAlways, "InterPodAffinity"},
    {"LeastRequestedPriority", kAlways, "NodeResourcesLeastAllocated"},
    {"MostRequestedPriority", kAlways, "NodeResourcesMostAllocated"},
    {"NodeAffinityPriority", kAlways, "NodeAffinity"},
    {"NodePreferAvoidPodsPriority", kAlways, "NodePreferAvoidPods"},
    {"RequestedToCapacityRatioPriority", history::kRatioArguments, "RequestedToCapacityRatio"},
    {"ResourceLimitsPriority", history::kResourceLimits, "ResourceLimitsPriority"},
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
