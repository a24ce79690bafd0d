#include "pkg/util/feature_gates.h"

#include <algorithm>
#include <array>

namespace berth::util {
namespace {

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

const FeatureGate* Find(std::string_view name) {
  auto it = std::lower_bound(kGates.begin(), kGates.end(), name,
                             [](const FeatureGate& g, std::string_view n) { return g.name < n; });
  return it != kGates.end() && it->name == name ? &*it : nullptr;
}

}  // namespace

std::span<const FeatureGate> FeatureGates() {
  return kGates;
}
bool IsFeatureGate(std::string_view name) {
  return Find(name) != nullptr;
}
bool FeatureGateDefault(std::string_view name) {
  const FeatureGate* gate = Find(name);
  return gate != nullptr && gate->on;
}

}  // namespace berth::util
