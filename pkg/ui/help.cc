// Texts about failures, places and rules.
#include "pkg/ui/help.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace berth::ui {
namespace {

using Entry = std::pair<std::string_view, std::string_view>;

// By scheduler::FailureReasonText. What a reason means is said, and not what to do: what would
// help depends on the pod, and is tried before it is shown.
constexpr Entry kHelp[] = {
    {"Insufficient cpu", "These nodes do not have that much cpu left."},
    {"Insufficient memory", "These nodes do not have that much memory left."},
    {"Insufficient ephemeral-storage", "These nodes do not have that much ephemeral-storage left."},
    {"Insufficient pods", "These nodes run as many pods as they may."},
    {"Insufficient alpha.kubernetes.io/nvidia-gpu",
     "These nodes do not have that much alpha.kubernetes.io/nvidia-gpu left."},
    {"Too many pods", "The nodes run as many pods as they may."},
    {"node(s) had taints that the pod didn't tolerate",
     "The nodes are reserved by a taint that the pod does not tolerate."},
    {"node(s) had untolerated taint", "The nodes are reserved by a taint that the pod does not tolerate."},
    {"node(s) had untolerated taint(s)", "The nodes are reserved by a taint that the pod does not tolerate."},
    {"node(s) didn't match node selector", "The pod wants labels that these nodes do not have. See its nodeSelector."},
    {"node(s) didn't match Pod's node affinity/selector",
     "The pod wants labels that these nodes do not have. See its node affinity and nodeSelector."},
    {"node(s) didn't match scheduler-enforced node affinity",
     "The scheduler's configuration keeps all pods away from these nodes. See addedAffinity there."},
    {"node(s) didn't match the requested hostname", "The pod requires one node by name. See spec.nodeName."},
    {"node(s) didn't match the requested node name", "The pod requires one node by name. See spec.nodeName."},
    {"node(s) were unschedulable", "The nodes are cordoned, so no new pods may go there."},
    {"node(s) were not ready", "The nodes do not report that they are ready. See kubectl describe node."},
    {"node(s) had unknown conditions", "The nodes no longer report their state."},
    {"node(s) had memory pressure", "The nodes are short of memory, and the pod has no guaranteed share."},
    {"node(s) had disk pressure", "The nodes are short of disk space."},
    {"node(s) had pid pressure", "The nodes are short of process IDs."},
    {"node(s) were out of disk space", "The nodes have no disk space left."},
    {"node(s) had unavailable network", "The network of the nodes is not set up. See the network plugin's pods."},
    {"node(s) didn't have free ports for the requested pod ports",
     "Another pod uses the same host port on these nodes."},
    {"node(s) didn't match pod affinity/anti-affinity",
     "The pod's podAffinity or podAntiAffinity keeps it away from these nodes. Its page says which."},
    {"node(s) didn't match pod affinity rules",
     "The pod wants to run beside pods that are not on these nodes. See its "
     "podAffinity."},
    {"node(s) didn't match pod anti-affinity rules",
     "The pod does not want to run beside pods that are on these nodes. See its podAntiAffinity."},
    {"node(s) didn't satisfy existing pods anti-affinity rules",
     "Pods on these nodes do not want this pod beside them. See their podAntiAffinity."},
    {"pod affinity terms conflict", "The pod's affinity and anti-affinity exclude each other."},
    {"node(s) didn't match pod topology spread constraints (missing required label)",
     "The nodes lack the label by which the pod wants to be spread. See topologyKey."},
    {"node(s) didn't match pod topology spread constraints",
     "Another pod here would spread the pods too unevenly. See topologySpreadConstraints."},
    {"node(s) didn't match service affinity",
     "The pods of a service must share a label of their nodes, and these nodes have another value of it."},
    {"node(s) didn't have the requested labels",
     "The Policy requires a node label that these nodes lack, or forbids one that they have."},
    {"node(s) didn't find available persistent volumes to bind",
     "No volume fits a claim of the pod on these nodes. See the claim's storage class."},
    {"node(s) had volume node affinity conflict", "A volume of the pod can only be used on other nodes."},
    {"node(s) had no available volume zone", "A volume of the pod is in another zone than these nodes."},
    {"node(s) had no available disk", "Another pod uses the same disk on these nodes."},
    {"node(s) exceed max volume count", "The nodes have as many volumes as they can attach."},
    {"node(s) did not have enough free storage", "The nodes' storage has no room for a volume of the pod."},
    {"node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
     "A claim of the pod is bound to a volume that no longer exists."},
    {"node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",
     "The claim may be used by one pod at a time, and another pod uses it."},
    {"node(s) didn't satisfy plugin(s)", "A plugin refused these nodes. Its page shows the plugin's name."},
    {"Pod has a restartable init container and the SidecarContainers feature is disabled",
     "The pod has a sidecar among its init containers, and the feature gate SidecarContainers is off."},
    {"extended resource", "No node has enough of a special resource such as a GPU left."},
    {"persistentvolumeclaim not found", "A claim that the pod names does not exist. Its page says which."},
    {"persistentvolumeclaim is being deleted", "A claim of the pod is being deleted. Its page says which."},
    {"persistentvolumeclaim bound to non-existent persistentvolume",
     "A claim of the pod is bound to a volume that does not exist. Its page says which."},
    {"persistentvolume not found", "A volume of the pod's claims does not exist. Its page says which."},
    {"storageclass not found", "The storage class of a claim does not exist. The pod's page says which."},
    {"waiting for ephemeral volume controller to create the persistentvolumeclaim",
     "The claim of an ephemeral volume has not been made yet. The controller manager makes it."},
    {"pod has unbound immediate PersistentVolumeClaims",
     "A claim of the pod has no volume yet, and its storage class does not wait for the pod. See kubectl describe "
     "pvc."},
    {"pvc(s) bound to non-existent pv(s)", "A claim of the pod is bound to a volume that does not exist."},
    {"node(s) didn't match PersistentVolume's node affinity", "A volume of the pod can only be used on other nodes."},
    {"node(s) didn't match Pod's required features",
     "The kubelets of these nodes do not have a feature that the pod needs."},
    {"node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
     "The claim may be used by one pod at a time, and another pod uses it."},
    {"CSI driver is not installed on the node", "The driver of a volume of the pod does not run on these nodes."},
    {"no nodes available", "The cluster has no nodes."},
    {"error", "The scheduler could not evaluate the pod. Its page shows the error."},
    {"unknown field", "The pod uses a field that this scheduler does not know and must not ignore."},
    {"other", "A plugin or an extender refused the pod. Its page shows the text."},
    // Releases up to 1.9 name the predicate.
    {"CheckNodeLabelPresence",
     "The Policy requires a node label that these nodes lack, or forbids one that they have."},
    {"CheckServiceAffinity",
     "The Policy keeps the pods of a service together by labels of nodes, and these nodes have other values."},
    {"ExistingPodsAntiAffinityRulesNotMatch",
     "Pods on these nodes do not want this pod beside them. See their podAntiAffinity."},
    {"HostName", "The pod requires one node by name. See spec.nodeName."},
    {"MatchInterPodAffinity",
     "The pod's podAffinity or podAntiAffinity keeps it away from these nodes. Its page says which."},
    {"MatchNodeSelector", "The pod wants labels that these nodes do not have. See its nodeSelector and node affinity."},
    {"MaxVolumeCount", "The nodes cannot attach more volumes of this kind."},
    {"NoDiskConflict", "Another pod on these nodes uses the same disk."},
    {"NoVolumeNodeConflict",
     "The pod's volumes cannot be used on these nodes. See the node affinity of the PersistentVolumes."},
    {"NoVolumeZoneConflict", "The pod's volumes are in another zone."},
    {"NodeNetworkUnavailable", "The network of the nodes is not set up. See the network plugin's pods."},
    {"NodeNotReady", "The nodes do not report that they are ready. See kubectl describe node."},
    {"NodeOutOfDisk", "The nodes have no disk space left."},
    {"NodeUnderDiskPressure", "The nodes are short of disk space."},
    {"NodeUnderMemoryPressure", "The nodes are short of memory, and the pod has no guaranteed share."},
    {"NodeUnknownCondition", "The nodes no longer report their state."},
    {"NodeUnschedulable", "The nodes are cordoned, so no new pods may go there."},
    {"PodAffinityRulesNotMatch", "The pod wants to run beside pods that are not on these nodes. See its podAffinity."},
    {"PodAntiAffinityRulesNotMatch",
     "The pod does not want to run beside pods that are on these nodes. See its podAntiAffinity."},
    {"PodFitsHostPorts", "Another pod uses the same host port on these nodes."},
    {"PodToleratesNodeTaints", "The nodes are reserved by a taint that the pod does not tolerate."},
    {"VolumeBindingNoMatch", "No free PersistentVolume of these nodes suits the pod's claims."},
    {"VolumeNodeAffinityConflict",
     "The pod's volumes cannot be used on these nodes. See the node affinity of the PersistentVolumes."},
};

constexpr Entry kPlaces[] = {
    {"queued", "waits for its turn, or for a change in the cluster after it did not fit"},
    {"backoff", "waits for a while because it did not fit"},
    {"refetching", "is read again after it did not fit"},
    {"writing-status", "its condition is being written"},
    {"preempting", "pods of lower priority are evicted to make room for it"},
    {"writing-volumes", "its volumes are being reserved"},
    {"binding", "has a node; its binding is being sent to the API server"},
    {"bind-unknown", "has a node; it is being found out whether the API server heard of it"},
    {"bound", "has a node"},
    {"verifying", "the API server is asked where it is"},
    {"deleting", "was deleted before it had a node"},
    {"gated", "waits until its scheduling gates are removed"},
    {"unsupported", "uses a field that this scheduler does not know and must not ignore"},
};

constexpr Entry kRules[] = {
    {"GeneralPredicates", "does the node have enough cpu, memory and ports, and is it the one that the pod requires?"},
    {"PodFitsResources", "does the node have as much cpu and memory left as the pod requests?"},
    {"NodeResourcesFit", "does the node have as much cpu and memory left as the pod requests?"},
    {"HostName", "is it the node that the pod names?"},
    {"NodeName", "is it the node that the pod names?"},
    {"PodFitsHostPorts", "are the host ports that the pod wants free?"},
    {"PodFitsPorts", "are the host ports that the pod wants free?"},
    {"NodePorts", "are the host ports that the pod wants free?"},
    {"MatchNodeSelector", "does the node have the labels that the pod requires?"},
    {"NodeAffinity", "does the node have the labels that the pod requires or prefers?"},
    {"NodeAffinityPriority", "how many of the labels that the pod prefers does the node have?"},
    {"PodToleratesNodeTaints", "does the pod tolerate the node's taints?"},
    {"PodToleratesNodeNoExecuteTaints", "does the pod tolerate the node's NoExecute taints?"},
    {"TaintToleration", "does the pod tolerate the node's taints?"},
    {"TaintTolerationPriority", "how few of the node's soft taints does the pod not tolerate?"},
    {"CheckNodeUnschedulable", "is the node not cordoned?"},
    {"NodeUnschedulable", "is the node not cordoned?"},
    {"CheckNodeCondition", "is the node ready?"},
    {"CheckNodeMemoryPressure", "does the node have memory left?"},
    {"CheckNodeDiskPressure", "does the node have disk space left?"},
    {"CheckNodePIDPressure", "does the node have process IDs left?"},
    {"CheckNodeLabelPresence", "does the node have the labels that the Policy requires?"},
    {"CheckServiceAffinity", "do the pods of the service share the labels of their nodes?"},
    {"MatchInterPodAffinity", "are the pods that it wants beside it there, and none that it does not want?"},
    {"InterPodAffinity", "are the pods that it wants beside it there, and none that it does not want?"},
    {"InterPodAffinityPriority", "how many pods are there that it prefers to be beside?"},
    {"PodTopologySpread", "are the pods spread evenly over zones or nodes?"},
    {"SelectorSpreadPriority", "how few pods of the same service or controller are on the node and in its zone?"},
    {"ServiceSpreadingPriority", "how few pods of the same service are on the node?"},
    {"NoDiskConflict", "are the pod's disks not used by another pod there?"},
    {"NoVolumeZoneConflict", "are the pod's volumes in the node's zone?"},
    {"VolumeZone", "are the pod's volumes in the node's zone?"},
    {"MaxEBSVolumeCount", "can the node attach that many EBS volumes?"},
    {"MaxGCEPDVolumeCount", "can the node attach that many GCE disks?"},
    {"MaxAzureDiskVolumeCount", "can the node attach that many Azure disks?"},
    {"EBSLimits", "can the node attach that many EBS volumes?"},
    {"GCEPDLimits", "can the node attach that many GCE disks?"},
    {"AzureDiskLimits", "can the node attach that many Azure disks?"},
    {"NodeVolumeLimits", "can the node attach that many volumes?"},
    {"CheckVolumeBinding", "can the pod's volumes be used on the node?"},
    {"VolumeBinding", "can the pod's volumes be used on the node?"},
    {"VolumeRestrictions", "may the pod's volumes be used together with those of other pods there?"},
    {"LeastRequestedPriority", "how much cpu and memory is left? More is better."},
    {"MostRequestedPriority", "how much cpu and memory is taken? More is better."},
    {"BalancedResourceAllocation", "how evenly are cpu and memory taken?"},
    {"NodeResourcesBalancedAllocation", "how evenly are cpu and memory taken?"},
    {"ImageLocalityPriority", "how much of the pod's images does the node have already?"},
    {"ImageLocality", "how much of the pod's images does the node have already?"},
    {"NodePreferAvoidPodsPriority", "has the node not asked to avoid the controller's pods?"},
    {"ResourceLimitsPriority", "does the node offer what the pod's limits allow it to use?"},
    {"EqualPriority", "the same for every node"},
};

std::string_view Find(std::span<const Entry> entries, std::string_view name) {
  const auto it = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.first == name; });
  return it == entries.end() ? std::string_view() : it->second;
}

}  // namespace

std::string_view HelpFor(scheduler::FailureReasonId id) {
  return Find(kHelp, scheduler::FailureReasonText(id));
}

std::string HelpFor(const std::vector<scheduler::FailureReason>& reasons) {
  std::vector<std::string> resources;
  for (const scheduler::FailureReason& r : reasons) {
    if (!r.resource.empty()) resources.push_back(r.resource.string());
  }
  if (!resources.empty()) return "These nodes do not have that much " + absl::StrJoin(resources, " and ") + " left.";
  // The last reason says most exactly what is wrong. What a plugin or an extender says has no help.
  const scheduler::FailureReasonId other = scheduler::FailureReasonNamed("other");
  for (auto r = reasons.rbegin(); r != reasons.rend(); ++r) {
    const scheduler::FailureReasonId id = scheduler::FailureReasonOf(*r);
    if (id != other) return std::string(HelpFor(id));
  }
  return {};
}

std::string_view PlaceInWords(std::string_view place) {
  return Find(kPlaces, place);
}

std::string_view RuleInWords(std::string_view name) {
  return Find(kRules, name);
}

}  // namespace berth::ui
