#include "pkg/scheduler/algorithm/reasons.h"

#include <absl/container/flat_hash_map.h>

namespace berth::scheduler::reasons {
namespace {

FailureReason Resolvable(std::string_view text) {
  return {Symbol(text), false};
}
FailureReason Unresolvable(std::string_view text) {
  return {Symbol(text), true};
}

}  // namespace

// Source: pkg/scheduler/algorithm/predicates/error.go; which reasons are unresolvable: nodesWherePreemptionMightHelp in
// pkg/scheduler/core/generic_scheduler.go (both 1.10). Surprisingly, upstream counts memory and disk pressure among the
// reasons that preemption may help against.
const FailureReason kDiskConflict = Resolvable("node(s) had no available disk");
const FailureReason kVolumeZoneConflict = Unresolvable("node(s) had no available volume zone");
const FailureReason kNodeSelectorNotMatch = Unresolvable("node(s) didn't match node selector");
const FailureReason kPodAffinityNotMatch = Resolvable("node(s) didn't match pod affinity/anti-affinity");
const FailureReason kPodAffinityRulesNotMatch = Resolvable("node(s) didn't match pod affinity rules");
const FailureReason kPodAntiAffinityRulesNotMatch = Resolvable("node(s) didn't match pod anti-affinity rules");
const FailureReason kExistingPodsAntiAffinityRulesNotMatch =
    Resolvable("node(s) didn't satisfy existing pods anti-affinity rules");
const FailureReason kTaintsTolerationsNotMatch = Unresolvable("node(s) had taints that the pod didn't tolerate");
const FailureReason kPodNotMatchHostName = Unresolvable("node(s) didn't match the requested hostname");
const FailureReason kPodNotFitsHostPorts = Resolvable("node(s) didn't have free ports for the requested pod ports");
const FailureReason kNodeLabelPresenceViolated = Unresolvable("node(s) didn't have the requested labels");
const FailureReason kServiceAffinityViolated = Resolvable("node(s) didn't match service affinity");
const FailureReason kMaxVolumeCountExceeded = Resolvable("node(s) exceed max volume count");
const FailureReason kNodeUnderMemoryPressure = Resolvable("node(s) had memory pressure");
const FailureReason kNodeUnderDiskPressure = Resolvable("node(s) had disk pressure");
const FailureReason kNodeUnderPidPressure = Resolvable("node(s) had pid pressure");
const FailureReason kNodeOutOfDisk = Resolvable("node(s) were out of disk space");
const FailureReason kNodeNotReady = Unresolvable("node(s) were not ready");
const FailureReason kNodeNetworkUnavailable = Unresolvable("node(s) had unavailable network");
const FailureReason kNodeUnschedulable = Unresolvable("node(s) were unschedulable");
const FailureReason kNodeUnknownCondition = Unresolvable("node(s) had unknown conditions");
const FailureReason kVolumeNodeConflict = Unresolvable("node(s) had volume node affinity conflict");
const FailureReason kVolumeBindConflict = Unresolvable("node(s) didn't find available persistent volumes to bind");

const FailureReason kTooManyPods = Resolvable("Too many pods");
const FailureReason kOwnNodeAffinity = Unresolvable("node(s) didn't match Pod's node affinity/selector");
const FailureReason kEnforcedNodeAffinity = Unresolvable("node(s) didn't match scheduler-enforced node affinity");
const FailureReason kOtherNode = Unresolvable("node(s) didn't match the requested node name");
const FailureReason kRequiredPodAffinity = Unresolvable("node(s) didn't match pod affinity rules");
const FailureReason kSpreadSkew = Resolvable("node(s) didn't match pod topology spread constraints");
const FailureReason kSpreadLabel =
    Unresolvable("node(s) didn't match pod topology spread constraints (missing required label)");
const FailureReason kUntoleratedTaints = Unresolvable("node(s) had untolerated taint(s)");

const Symbol kExtendedResource("extended resource");
const Symbol kUntoleratedTaint("node(s) had untolerated taint");
const Symbol kNoClaim("persistentvolumeclaim not found");
const Symbol kClaimIsDeleted("persistentvolumeclaim is being deleted");
const Symbol kClaimLostVolume("persistentvolumeclaim bound to non-existent persistentvolume");
const Symbol kNoClaimYet("waiting for ephemeral volume controller to create the persistentvolumeclaim");
const Symbol kNoVolume("persistentvolume not found");
const Symbol kNoStorageClass("storageclass not found");
const Symbol kNoDriver("CSI driver is not installed on the node");

FailureReason Insufficient(Symbol resource) {
  // Each thread caches the reasons, because building and interning the text for every row would be slow.
  thread_local absl::flat_hash_map<Symbol, FailureReason> known;
  auto [it, fresh] = known.try_emplace(resource);
  if (fresh) it->second = {Symbol("Insufficient " + resource.string()), false, kExtendedResource, resource};
  return it->second;
}

}  // namespace berth::scheduler::reasons
