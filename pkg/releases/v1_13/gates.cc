// Source: pkg/features/kube_features.go and the gates of the API server's libraries (1.13). Those of other components
// are accepted and have no effect here.
#include "pkg/releases/v1_13/decides.h"

namespace berth::releases::v1_13 {
namespace {

using util::FeatureGate;
using util::GateStage;

constexpr FeatureGate kGates[] = {
    {"APIListChunking", GateStage::kBeta, true},
    {"APIResponseCompression", GateStage::kAlpha, false},
    {"AdvancedAuditing", GateStage::kGA, true},
    {"AllAlpha", GateStage::kAlpha, false},
    {"AppArmor", GateStage::kBeta, true},
    {"AttachVolumeLimit", GateStage::kBeta, true},
    {"BalanceAttachedNodeVolumes", GateStage::kAlpha, false},
    {"BlockVolume", GateStage::kBeta, true},
    {"BoundServiceAccountTokenVolume", GateStage::kAlpha, false},
    {"CPUCFSQuotaPeriod", GateStage::kAlpha, false},
    {"CPUManager", GateStage::kBeta, true},
    {"CRIContainerLogRotation", GateStage::kBeta, true},
    {"CSIBlockVolume", GateStage::kAlpha, false},
    {"CSIDriverRegistry", GateStage::kAlpha, false},
    {"CSINodeInfo", GateStage::kAlpha, false},
    {"CSIPersistentVolume", GateStage::kGA, true},
    {"CustomPodDNS", GateStage::kBeta, true},
    {"CustomResourceSubresources", GateStage::kBeta, true},
    {"CustomResourceValidation", GateStage::kBeta, true},
    {"CustomResourceWebhookConversion", GateStage::kAlpha, false},
    {"DebugContainers", GateStage::kAlpha, false},
    {"DevicePlugins", GateStage::kBeta, true},
    {"DryRun", GateStage::kBeta, true},
    {"DynamicAuditing", GateStage::kAlpha, false},
    {"DynamicKubeletConfig", GateStage::kBeta, true},
    {"EnableEquivalenceClassCache", GateStage::kAlpha, false},
    {"ExpandInUsePersistentVolumes", GateStage::kAlpha, false},
    {"ExpandPersistentVolumes", GateStage::kBeta, true},
    {"ExperimentalCriticalPodAnnotation", GateStage::kAlpha, false},
    {"ExperimentalHostUserNamespaceDefaulting", GateStage::kBeta, false},
    {"GCERegionalPersistentDisk", GateStage::kGA, true},
    {"HugePages", GateStage::kBeta, true},
    {"HyperVContainer", GateStage::kAlpha, false},
    {"Initializers", GateStage::kAlpha, false},
    {"KubeletPluginsWatcher", GateStage::kGA, true},
    {"KubeletPodResources", GateStage::kAlpha, false},
    {"LocalStorageCapacityIsolation", GateStage::kBeta, true},
    {"MountContainers", GateStage::kAlpha, false},
    {"MountPropagation", GateStage::kGA, true},
    {"NodeLease", GateStage::kAlpha, false},
    {"PersistentLocalVolumes", GateStage::kBeta, true},
    {"PodPriority", GateStage::kBeta, true},
    {"PodReadinessGates", GateStage::kBeta, true},
    {"PodShareProcessNamespace", GateStage::kBeta, true},
    {"ProcMountType", GateStage::kAlpha, false},
    {"QOSReserved", GateStage::kAlpha, false},
    {"ResourceLimitsPriorityFunction", GateStage::kAlpha, false},
    {"ResourceQuotaScopeSelectors", GateStage::kBeta, true},
    {"RotateKubeletClientCertificate", GateStage::kBeta, true},
    {"RotateKubeletServerCertificate", GateStage::kBeta, true},
    {"RunAsGroup", GateStage::kAlpha, false},
    {"RuntimeClass", GateStage::kAlpha, false},
    {"SCTPSupport", GateStage::kAlpha, false},
    {"ScheduleDaemonSetPods", GateStage::kBeta, true},
    {"ServiceNodeExclusion", GateStage::kAlpha, false},
    {"StorageObjectInUseProtection", GateStage::kGA, true},
    {"StreamingProxyRedirects", GateStage::kBeta, true},
    {"SupportIPVSProxyMode", GateStage::kGA, true},
    {"SupportPodPidsLimit", GateStage::kAlpha, false},
    {"Sysctls", GateStage::kBeta, true},
    {"TTLAfterFinished", GateStage::kAlpha, false},
    {"TaintBasedEvictions", GateStage::kBeta, true},
    {"TaintNodesByCondition", GateStage::kBeta, true},
    {"TokenRequest", GateStage::kBeta, true},
    {"TokenRequestProjection", GateStage::kBeta, true},
    {"ValidateProxyRedirects", GateStage::kAlpha, false},
    {"VolumeScheduling", GateStage::kGA, true},
    {"VolumeSnapshotDataSource", GateStage::kAlpha, false},
    {"VolumeSubpath", GateStage::kGA, true},
    {"VolumeSubpathEnvExpansion", GateStage::kAlpha, false},
};

// What the scheduler of the release reads, and this one does not.
constexpr std::string_view kWithoutEffect[] = {"EnableEquivalenceClassCache", "LocalStorageCapacityIsolation"};

}  // namespace

std::span<const FeatureGate> Gates() {
  return kGates;
}

std::span<const std::string_view> GatesWithoutEffect() {
  return kWithoutEffect;
}

}  // namespace berth::releases::v1_13
