#include "pkg/scheduler/failure_reasons.h"

#include <absl/container/flat_hash_map.h>

#include <array>
#include <utility>

namespace berth::scheduler {
namespace {

// The index of a text is its FailureReasonId. The texts of the releases are those that their rules return, or the
// beginning of those that differ from object to object.
constexpr auto kReasons = std::to_array<std::string_view>({
    "error",
    "other",
    "no nodes available",
    "extended resource",
    // Release 1.10.
    "Insufficient alpha.kubernetes.io/nvidia-gpu",
    "Insufficient cpu",
    "Insufficient ephemeral-storage",
    "Insufficient memory",
    "Insufficient pods",
    "node(s) didn't find available persistent volumes to bind",
    "node(s) didn't have free ports for the requested pod ports",
    "node(s) didn't have the requested labels",
    "node(s) didn't match node selector",
    "node(s) didn't match pod affinity rules",
    "node(s) didn't match pod affinity/anti-affinity",
    "node(s) didn't match pod anti-affinity rules",
    "node(s) didn't match service affinity",
    "node(s) didn't match the requested hostname",
    "node(s) didn't satisfy existing pods anti-affinity rules",
    "node(s) exceed max volume count",
    "node(s) had disk pressure",
    "node(s) had memory pressure",
    "node(s) had no available disk",
    "node(s) had no available volume zone",
    "node(s) had taints that the pod didn't tolerate",
    "node(s) had unavailable network",
    "node(s) had unknown conditions",
    "node(s) had volume node affinity conflict",
    "node(s) were not ready",
    "node(s) were out of disk space",
    "node(s) were unschedulable",
    // Release 1.29.
    "Too many pods",
    "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",
    "node(s) didn't match Pod's node affinity/selector",
    "node(s) didn't match pod topology spread constraints",
    "node(s) didn't match pod topology spread constraints (missing required label)",
    "node(s) didn't match scheduler-enforced node affinity",
    "node(s) didn't match the requested node name",
    "node(s) didn't satisfy plugin(s)",
    "node(s) did not have enough free storage",
    "node(s) had untolerated taint",
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
    "Pod has a restartable init container and the SidecarContainers feature is disabled",
    "pod affinity terms conflict",
    "unknown field",
});
constexpr FailureReasonId kErrorReason = 0, kOther = 1, kNoNodesReason = 2, kExtendedResource = 3;

}  // namespace

size_t FailureReasonCount() {
  return kReasons.size();
}

FailureReasonId ErrorReason() {
  return kErrorReason;
}

FailureReasonId NoNodesReason() {
  return kNoNodesReason;
}

FailureReasonId FailureReasonOf(std::string_view failure_text) {
  static const auto& ids = *[] {
    auto* map = new absl::flat_hash_map<std::string_view, FailureReasonId>();
    for (size_t i = 0; i < kReasons.size(); ++i) map->emplace(kReasons[i], static_cast<FailureReasonId>(i));
    return map;
  }();
  if (auto it = ids.find(failure_text); it != ids.end()) return it->second;
  if (failure_text.starts_with("Insufficient ")) return kExtendedResource;
  // The rest of these texts depends on the object.
  for (std::string_view prefix : {"node(s) had untolerated taint", "node(s) didn't satisfy plugin(s)"}) {
    if (failure_text.starts_with(prefix)) return ids.at(prefix);
  }
  return kOther;
}

std::string_view PluginOfFailure(std::string_view failure_text) {
  // Beginnings of failure texts and their plugins. The first one that matches counts.
  static constexpr std::pair<std::string_view, std::string_view> kPlugins[] = {
      {"Insufficient ", "NodeResourcesFit"},
      {"Too many pods", "NodeResourcesFit"},
      {"Pod has a restartable init container", "NodeResourcesFit"},
      {"node(s) were unschedulable", "NodeUnschedulable"},
      {"node(s) didn't match the requested ", "NodeName"},
      {"node(s) had untolerated taint", "TaintToleration"},
      {"node(s) had taints that the pod didn't tolerate", "TaintToleration"},
      {"node(s) didn't match Pod's node affinity/selector", "NodeAffinity"},
      {"node(s) didn't match node selector", "NodeAffinity"},
      {"node(s) didn't match scheduler-enforced node affinity", "NodeAffinity"},
      {"node(s) didn't have free ports", "NodePorts"},
      {"node(s) had no available disk", "VolumeRestrictions"},
      {"node has pod using PersistentVolumeClaim", "VolumeRestrictions"},
      {"node(s) exceed max volume count", "NodeVolumeLimits"},
      {"node(s) had no available volume zone", "VolumeZone"},
      {"node(s) had volume node affinity conflict", "VolumeBinding"},
      {"node(s) didn't find available persistent volumes", "VolumeBinding"},
      {"node(s) did not have enough free storage", "VolumeBinding"},
      {"node(s) unavailable due to one or more pvc(s)", "VolumeBinding"},
      {"node(s) didn't match pod topology spread constraints", "PodTopologySpread"},
      {"node(s) didn't match pod affinity", "InterPodAffinity"},
      {"node(s) didn't match pod anti-affinity", "InterPodAffinity"},
      {"node(s) didn't satisfy existing pods anti-affinity", "InterPodAffinity"},
  };
  for (const auto& [text, plugin] : kPlugins) {
    if (failure_text.starts_with(text)) return plugin;
  }
  return "";
}

std::string_view FailureReasonText(FailureReasonId id) {
  return kReasons[id];
}

}  // namespace berth::scheduler
