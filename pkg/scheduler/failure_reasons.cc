#include "pkg/scheduler/failure_reasons.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <array>
#include <map>

#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {
namespace {

// The index of a text is its FailureReasonId. The texts of the releases are those that their rules return, or the kinds
// of those that differ from object to object (FailureReason::kind).
// NOLINT(readability-function-size): a table of texts.
constexpr auto kReasons = std::to_array<std::string_view>({
    "error",
    "other",
    "no nodes available",
    "extended resource",
    "persistentvolumeclaim not found",
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
    // Releases up to 1.9.
    "CheckNodeLabelPresence",
    "CheckServiceAffinity",
    "ExistingPodsAntiAffinityRulesNotMatch",
    "HostName",
    "MatchInterPodAffinity",
    "MatchNodeSelector",
    "MaxVolumeCount",
    "NoDiskConflict",
    "NoVolumeNodeConflict",
    "NoVolumeZoneConflict",
    "NodeNetworkUnavailable",
    "NodeNotReady",
    "NodeOutOfDisk",
    "NodeUnderDiskPressure",
    "NodeUnderMemoryPressure",
    "NodeUnknownCondition",
    "NodeUnschedulable",
    "PodAffinityRulesNotMatch",
    "PodAntiAffinityRulesNotMatch",
    "PodFitsHostPorts",
    "PodToleratesNodeTaints",
    "VolumeBindingNoMatch",
    "VolumeNodeAffinityConflict",
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
    // Releases 1.13, 1.19 and 1.36, and what all releases say of an object that they name.
    "node(s) had pid pressure",
    "pod has unbound immediate PersistentVolumeClaims",
    "pvc(s) bound to non-existent pv(s)",
    "node(s) had untolerated taint(s)",
    "node(s) didn't match PersistentVolume's node affinity",
    "node(s) didn't match Pod's required features",
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
    "persistentvolumeclaim is being deleted",
    "persistentvolumeclaim bound to non-existent persistentvolume",
    "persistentvolume not found",
    "storageclass not found",
    "waiting for ephemeral volume controller to create the persistentvolumeclaim",
    "CSI driver is not installed on the node",
});
constexpr FailureReasonId kErrorReason = 0, kOther = 1, kNoNodesReason = 2;

}  // namespace

size_t FailureReasonCount() {
  return kReasons.size();
}

FailureReasonId ReasonOfError(Symbol kind) {
  const FailureReasonId named = FailureReasonNamed(kind.str());
  return named == kOther ? kErrorReason : named;
}

FailureReasonId NoNodesReason() {
  return kNoNodesReason;
}

FailureReasonId FailureReasonNamed(std::string_view text) {
  static const auto& ids = *[] {
    auto* map = new absl::flat_hash_map<std::string_view, FailureReasonId>();
    for (size_t i = 0; i < kReasons.size(); ++i) map->emplace(kReasons[i], static_cast<FailureReasonId>(i));
    return map;
  }();
  auto it = ids.find(text);
  return it == ids.end() ? kOther : it->second;
}

FailureReasonId FailureReasonOf(const FailureReason& failure) {
  const FailureReasonId named = FailureReasonNamed(failure.text.str());
  return named != kOther || failure.kind.empty() ? named : FailureReasonNamed(failure.kind.str());
}

const FailureReason* DecisiveReason(const NodeFailures& failures) {
  BERTH_REQUIRES(failures.size() > 0);
  const auto resolvable = [](const std::vector<FailureReason>& list) {
    return std::none_of(list.begin(), list.end(), [](const FailureReason& r) { return r.unresolvable; });
  };
  bool some_near = false;
  failures.ForEachList([&](const auto& list, int64_t) { some_near = some_near || resolvable(list); });
  std::map<std::string_view, std::pair<int64_t, const FailureReason*>> nodes_of;
  failures.ForEachList([&](const std::vector<FailureReason>& list, int64_t nodes) {
    if (some_near && !resolvable(list)) return;
    for (const FailureReason& r : list) {
      // This one stands beside the reason that says what exactly did not match.
      if (list.size() > 1 && r.text == reasons::kPodAffinityNotMatch.text) continue;
      auto& [count, reason] = nodes_of[r.text.str()];
      count += nodes;
      reason = &r;
    }
  });
  const auto most = std::max_element(nodes_of.begin(), nodes_of.end(),
                                     [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
  return most == nodes_of.end() ? nullptr : most->second.second;
}

std::vector<FailureReasonId> DistinctReasons(const NodeFailures& failures) {
  std::vector<FailureReasonId> reasons;
  if (const FailureReason* decisive = DecisiveReason(failures)) reasons.push_back(FailureReasonOf(*decisive));
  failures.ForEachList([&](const std::vector<FailureReason>& list, int64_t) {
    for (const FailureReason& r : list) {
      const FailureReasonId id = FailureReasonOf(r);
      if (std::find(reasons.begin(), reasons.end(), id) == reasons.end()) reasons.push_back(id);
    }
  });
  return reasons;
}

std::string_view FailureReasonText(FailureReasonId id) {
  BERTH_REQUIRES(id < FailureReasonCount());
  return kReasons[id];
}

}  // namespace berth::scheduler
