// Source: pkg/features/kube_features.go and the gates of the API server's libraries (1.9). Those of other components
// are accepted and have no effect here.
#include <array>

#include "pkg/releases/v1_9/decides.h"

namespace berth::releases::v1_9 {
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
    {"CPUManager", GateStage::kAlpha, false},
    {"CSIPersistentVolume", GateStage::kAlpha, false},
    {"CustomPodDNS", GateStage::kAlpha, false},
    {"CustomResourceValidation", GateStage::kBeta, true},
    {"DevicePlugins", GateStage::kAlpha, false},
    {"DynamicKubeletConfig", GateStage::kAlpha, false},
    {"EnableEquivalenceClassCache", GateStage::kAlpha, false},
    {"ExpandPersistentVolumes", GateStage::kAlpha, false},
    {"ExperimentalCriticalPodAnnotation", GateStage::kAlpha, false},
    {"ExperimentalHostUserNamespaceDefaulting", GateStage::kBeta, false},
    {"HugePages", GateStage::kAlpha, false},
    {"Initializers", GateStage::kAlpha, false},
    {"LocalStorageCapacityIsolation", GateStage::kAlpha, false},
    {"MountContainers", GateStage::kAlpha, false},
    {"MountPropagation", GateStage::kAlpha, false},
    {"PVCProtection", GateStage::kAlpha, false},
    {"PersistentLocalVolumes", GateStage::kAlpha, false},
    {"PodPriority", GateStage::kAlpha, false},
    {"ResourceLimitsPriorityFunction", GateStage::kAlpha, false},
    {"RotateKubeletClientCertificate", GateStage::kBeta, true},
    {"RotateKubeletServerCertificate", GateStage::kAlpha, false},
    {"ServiceNodeExclusion", GateStage::kAlpha, false},
    {"StreamingProxyRedirects", GateStage::kBeta, true},
    {"SupportIPVSProxyMode", GateStage::kBeta, false},
    {"TaintBasedEvictions", GateStage::kAlpha, false},
    {"TaintNodesByCondition", GateStage::kAlpha, false},
    {"VolumeScheduling", GateStage::kAlpha, false},
});

}  // namespace

std::span<const FeatureGate> Gates() {
  return kGates;
}

}  // namespace berth::releases::v1_9
