#include "pkg/util/feature_gates.h"

#include <algorithm>
#include <array>
#include <vector>

#include "pkg/util/suggest.h"

namespace berth::util {
namespace {

// Both tables are sorted by name, because gates are found by binary search.
constexpr auto kGates = std::to_array<FeatureGate>({
    {"APIListChunking", GateStage::kBeta, true},
    {"APIResponseCompression", GateStage::kAlpha, false},
    {"Accelerators", GateStage::kAlpha, false},
    {"AdvancedAuditing", GateStage::kBeta, true},
    {"AllAlpha", GateStage::kAlpha, false},
    {"AppArmor", GateStage::kBeta, true},
    {"BlockVolume", GateStage::kAlpha, false},
    {"CPUManager", GateStage::kBeta, true},
    {"CRIContainerLogRotation", GateStage::kAlpha, false},
    {"CSIPersistentVolume", GateStage::kBeta, true},
    {"CustomPodDNS", GateStage::kBeta, true},
    {"CustomResourceSubresources", GateStage::kAlpha, false},
    {"CustomResourceValidation", GateStage::kBeta, true},
    {"DebugContainers", GateStage::kAlpha, false},
    {"DevicePlugins", GateStage::kBeta, true},
    {"DynamicKubeletConfig", GateStage::kAlpha, false},
    {"EnableEquivalenceClassCache", GateStage::kAlpha, false},
    {"ExpandPersistentVolumes", GateStage::kAlpha, false},
    {"ExperimentalCriticalPodAnnotation", GateStage::kAlpha, false},
    {"ExperimentalHostUserNamespaceDefaulting", GateStage::kBeta, false},
    {"GCERegionalPersistentDisk", GateStage::kBeta, true},
    {"HugePages", GateStage::kBeta, true},
    {"HyperVContainer", GateStage::kAlpha, false},
    {"Initializers", GateStage::kAlpha, false},
    {"LocalStorageCapacityIsolation", GateStage::kBeta, true},
    {"MountContainers", GateStage::kAlpha, false},
    {"MountPropagation", GateStage::kBeta, true},
    {"PersistentLocalVolumes", GateStage::kBeta, true},
    {"PodPriority", GateStage::kAlpha, false},
    {"PodShareProcessNamespace", GateStage::kAlpha, false},
    {"ReadOnlyAPIDataVolumes", GateStage::kDeprecated, true},
    {"ResourceLimitsPriorityFunction", GateStage::kAlpha, false},
    {"RotateKubeletClientCertificate", GateStage::kBeta, true},
    {"RotateKubeletServerCertificate", GateStage::kAlpha, false},
    {"RunAsGroup", GateStage::kAlpha, false},
    {"ScheduleDaemonSetPods", GateStage::kAlpha, false},
    {"ServiceNodeExclusion", GateStage::kAlpha, false},
    {"ServiceProxyAllowExternalIPs", GateStage::kDeprecated, false},
    {"StorageObjectInUseProtection", GateStage::kBeta, true},
    {"StreamingProxyRedirects", GateStage::kBeta, true},
    {"SupportIPVSProxyMode", GateStage::kBeta, true},
    {"SupportPodPidsLimit", GateStage::kAlpha, false},
    {"TaintBasedEvictions", GateStage::kAlpha, false},
    {"TaintNodesByCondition", GateStage::kAlpha, false},
    {"TokenRequest", GateStage::kAlpha, false},
    {"VolumeScheduling", GateStage::kBeta, true},
    {"VolumeSubpath", GateStage::kGA, true},
});

constexpr auto kLaterGates = std::to_array<FeatureGate>({
    {"AllAlpha", GateStage::kAlpha, false},
    {"AllBeta", GateStage::kBeta, false},
    {"CSIMigrationPortworx", GateStage::kBeta, false},
    {"CSIMigrationRBD", GateStage::kDeprecated, false},
    {"DynamicResourceAllocation", GateStage::kAlpha, false},
    {"InPlacePodVerticalScaling", GateStage::kAlpha, false},
    {"MatchLabelKeysInPodAffinity", GateStage::kAlpha, false},
    {"MatchLabelKeysInPodTopologySpread", GateStage::kBeta, true},
    {"MinDomainsInPodTopologySpread", GateStage::kBeta, true},
    {"NodeInclusionPolicyInPodTopologySpread", GateStage::kBeta, true},
    {"PodDisruptionConditions", GateStage::kBeta, true},
    {"PodSchedulingReadiness", GateStage::kBeta, true},
    {"ReadWriteOncePod", GateStage::kGA, true},
    {"SchedulerQueueingHints", GateStage::kBeta, false},
    {"SidecarContainers", GateStage::kBeta, true},
    {"VolumeCapacityPriority", GateStage::kAlpha, false},
});

const FeatureGate* Find(std::string_view name) {
  return FindGate(kGates, name);
}

}  // namespace

const FeatureGate* FindGate(std::span<const FeatureGate> gates, std::string_view name) {
  auto it = std::lower_bound(gates.begin(), gates.end(), name,
                             [](const FeatureGate& g, std::string_view n) { return g.name < n; });
  return it != gates.end() && it->name == name ? &*it : nullptr;
}

std::span<const FeatureGate> FeatureGates() {
  return kGates;
}
bool IsFeatureGate(std::string_view name) {
  return Find(name) != nullptr;
}
std::string GateSuggestion(std::string_view name) {
  std::vector<std::string_view> names;
  for (const FeatureGate& g : kGates) names.push_back(g.name);
  for (const FeatureGate& g : kLaterGates) names.push_back(g.name);
  return SuggestionFor(name, names);
}
std::span<const FeatureGate> LaterFeatureGates() {
  return kLaterGates;
}
bool IsLaterFeatureGate(std::string_view name) {
  return FindGate(kLaterGates, name) != nullptr;
}
bool FeatureGateDefault(std::string_view name) {
  const FeatureGate* gate = Find(name);
  return gate != nullptr && gate->on;
}

}  // namespace berth::util
