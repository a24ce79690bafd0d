// Source: pkg/features/kube_features.go and the gates of the API server's libraries (1.10). Those of other components
// are accepted and have no effect here.
#include <array>

#include "pkg/releases/v1_10/decides.h"

namespace berth::releases::v1_10 {
namespace {

using util::FeatureGate;
using util::GateStage;

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

}  // namespace

std::span<const FeatureGate> Gates() {
  return kGates;
}

}  // namespace berth::releases::v1_10
