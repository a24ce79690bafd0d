#include "pkg/releases/gates.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <iterator>

#include "pkg/release/history.h"
#include "pkg/releases/releases.h"
#include "pkg/util/status.h"
#include "pkg/util/suggest.h"

namespace berth::releases {
namespace {

// Gates of 1.29 that neither its scheduler nor another emulated release knows. Installers give all components the same
// gates, so they are accepted there, and have no effect.
constexpr std::string_view kOfOtherComponents[] = {
    "APISelfSubjectReview",
    "AdmissionWebhookMatchConditions",
    "AggregatedDiscoveryEndpoint",
    "AllowServiceLBStatusOnNonLB",
    "CSINodeExpandSecret",
    "CloudDualStackNodeIPs",
    "ConsistentHTTPGetHandlers",
    "CronJobsScheduledAnnotation",
    "CustomResourceValidationExpressions",
    "DefaultHostNetworkHostPortsInPodTemplates",
    "DevicePluginCDIDevices",
    "DisableCloudProviders",
    "DisableKubeletCloudCredentialProviders",
    "EfficientWatchResumption",
    "ElasticIndexedJob",
    "ExpandedDNSConfig",
    "ExperimentalHostUserNamespaceDefaultingGate",
    "HPAContainerMetrics",
    "HonorPVReclaimPolicy",
    "IPTablesOwnershipCleanup",
    "InTreePluginAWSUnregister",
    "InTreePluginAzureDiskUnregister",
    "InTreePluginAzureFileUnregister",
    "InTreePluginGCEUnregister",
    "InTreePluginOpenStackUnregister",
    "InTreePluginPortworxUnregister",
    "InTreePluginRBDUnregister",
    "InTreePluginvSphereUnregister",
    "JobPodFailurePolicy",
    "JobReadyPods",
    "KMSv2",
    "KMSv2KDF",
    "KubeProxyDrainingTerminatingNodes",
    "LegacyServiceAccountTokenCleanUp",
    "LegacyServiceAccountTokenTracking",
    "LoadBalancerIPMode",
    "MemoryManager",
    "MinimizeIPTablesRestore",
    "NewVolumeManagerReconstruction",
    "NodeOutOfServiceVolumeDetach",
    "PDBUnhealthyPodEvictionPolicy",
    "PersistentVolumeLastPhaseTransitionTime",
    "PodHostIPs",
    "PodIndexLabel",
    "ProxyTerminatingEndpoints",
    "RuntimeClassInImageCriAPI",
    "SecurityContextDeny",
    "ServerSideFieldValidation",
    "ServiceNodePortStaticSubrange",
    "SizeMemoryBackedVolumes",
    "SkipReadOnlyValidationGCE",
    "StableLoadBalancerNodeSet",
    "StatefulSetAutoDeletePVC",
    "StatefulSetStartOrdinal",
    "StructuredAuthorizationConfiguration",
    "TopologyAwareHints",
    "UserNamespacesPodSecurityStandards",
    "ValidatingAdmissionPolicy",
    "WatchFromStorageWithoutResourceVersion",
    "ZeroLimitedNominalConcurrencyShares",
};

bool IsOfOtherComponents(std::string_view name) {
  return std::binary_search(std::begin(kOfOtherComponents), std::end(kOfOtherComponents), name);
}

}  // namespace

std::span<const util::FeatureGate> DefaultGates() {
  return Of(release::Default()).decides.gates;
}

bool IsDefaultGate(std::string_view name) {
  return util::FindGate(DefaultGates(), name) != nullptr;
}

absl::Status CheckGate(const release::Id& release, std::string_view name, bool on) {
  static constexpr release::From<std::string_view> kUnknown[] = {
      {{0}, "unrecognized key: "}, {release::history::kSaysFeatureGate.since, "unrecognized feature gate: "}};
  const scheduler::Release& rules = Of(release).decides;
  const util::FeatureGate* gate = util::FindGate(rules.gates, name);
  bool known = gate != nullptr;
  if (!rules.refuses_unknown_gates) {
    known = known || IsOfOtherComponents(name);
    for (const release::Id& id : release::All()) {
      known = known || util::FindGate(Of(id).decides.gates, name) != nullptr;
    }
  }
  if (!known) {
    return absl::InvalidArgumentError(
        absl::StrCat(util::ToAbsl(release::At(kUnknown, release.version)), util::ToAbsl(name), GateSuggestion(name)));
  }
  if (gate == nullptr || !gate->locked || gate->on == on) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("cannot set feature gate ", util::ToAbsl(name), " to ",
                                                 on ? "true" : "false", ", feature is locked to ",
                                                 gate->on ? "true" : "false"));
}

absl::Status CheckGatesNeeded(const release::Id& release, absl::FunctionRef<bool(std::string_view gate)> on) {
  for (const util::FeatureGate& g : Of(release).decides.gates) {
    if (g.needs.empty() || !on(g.name) || on(g.needs)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        util::ToAbsl(g.name), " is enabled, but depends on features that are disabled: [", util::ToAbsl(g.needs), "]"));
  }
  return absl::OkStatus();
}

std::string_view WithoutComponent(const release::Id& release, std::string_view name) {
  constexpr std::string_view kComponent = "kube:";
  if (release::history::kTakesComponents.Has(release.version) && name.starts_with(kComponent))
    name.remove_prefix(kComponent.size());
  return name;
}

std::vector<std::string> NotesOnGates(const release::Id& release,
                                      const std::map<std::string, bool, std::less<>>& named) {
  std::vector<std::string> notes;
  const scheduler::Release& rules = Of(release).decides;
  for (const std::string_view name : rules.gates_without_effect) {
    const util::FeatureGate* gate = util::FindGate(rules.gates, name);
    const auto it = named.find(name);
    if (gate == nullptr || it == named.end() || it->second == gate->on) continue;
    notes.push_back(absl::StrCat("feature gate ", util::ToAbsl(name), "=", it->second ? "true" : "false",
                                 " has no effect: decisions are those with ", gate->on ? "true" : "false"));
  }
  return notes;
}

std::string GateSuggestion(std::string_view name) {
  std::vector<std::string_view> names;
  for (const util::FeatureGate& g : DefaultGates()) names.push_back(g.name);
  for (const release::Id& id : release::All()) {
    for (const util::FeatureGate& g : Of(id).decides.gates) names.push_back(g.name);
  }
  // What another release has is not a mistyped name.
  if (std::find(names.begin(), names.end(), name) != names.end()) return {};
  return util::SuggestionFor(name, names);
}

}  // namespace berth::releases
