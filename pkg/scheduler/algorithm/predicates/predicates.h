// The fit predicates of Kubernetes 1.10, one .cc file each, named after the rule. Each function here is the predicate's
// factory: it takes what a scheduler was built with and gives the predicate, which prepares for a pod.
//
// "Fails with" names the reasons in reasons.h. Rules: spec of 1.10's predicates.go.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::predicates {

// CheckNodeCondition (mandatory): Ready is True, OutOfDisk and NetworkUnavailable are False where present, and the node
// is not cordoned. Fails with one reason for each condition entry that is wrong.
FitPredicate CheckNodeCondition(const PluginFactoryArgs&);

// GeneralPredicates: PodFitsResources, HostName, PodFitsHostPorts and MatchNodeSelector, all judged, all reasons given.
FitPredicate GeneralPredicates(const PluginFactoryArgs&);

// HostName: spec.nodeName is empty or the node's name.
FitPredicate HostName(const PluginFactoryArgs&);

// PodFitsHostPorts (1.0's PodFitsPorts): none of the pod's host ports is taken. 0.0.0.0 stands for all addresses.
FitPredicate PodFitsHostPorts(const PluginFactoryArgs&);

// MatchNodeSelector: spec.nodeSelector and required node affinity match the node's labels. Terms are ORed; a term that
// cannot be used ends the search with no match (B-11, kept).
FitPredicate MatchNodeSelector(const PluginFactoryArgs&);

// PodFitsResources: requests fit into what is allocatable and not yet requested; one more pod is allowed. A pod that
// requests nothing is checked for the number of pods only.
FitPredicate PodFitsResources(const PluginFactoryArgs&);

// NoDiskConflict: no pod on the node uses the same GCE PD, EBS volume, iSCSI target or RBD image (read-only sharing is
// fine but for EBS). Volumes behind claims are not looked at.
FitPredicate NoDiskConflict(const PluginFactoryArgs&);

// PodToleratesNodeTaints: every NoSchedule and NoExecute taint is tolerated.
FitPredicate PodToleratesNodeTaints(const PluginFactoryArgs&);

// Policy argument labelsPresence: every label is on the node (presence) or none is (not presence).
FitPredicate NodeLabelPresence(std::vector<Symbol> labels, bool presence);

// Policy argument serviceAffinity: pods of one service go to nodes that agree in these labels.
FitPredicate ServiceAffinity(std::vector<Symbol> labels);

// MaxEBSVolumeCount (39), MaxGCEPDVolumeCount (16), MaxAzureDiskVolumeCount (16): distinct volumes of the kind on the
// node stay within the limit; KUBE_MAX_PD_VOLS replaces all three when it is a positive number.
enum class CloudDisk { kEbs, kGcePd, kAzure };
FitPredicate MaxPdVolumeCount(CloudDisk disk, const PluginFactoryArgs& args);

// CheckVolumeBinding (gate VolumeScheduling): bound volumes are usable on the node and unbound claims find volumes.
FitPredicate CheckVolumeBinding(const PluginFactoryArgs&);

// NoVolumeZoneConflict: the zone and region labels of the pod's volumes include those of the node.
FitPredicate NoVolumeZoneConflict(const PluginFactoryArgs&);

// CheckNodeMemoryPressure: best-effort pods avoid nodes with memory pressure.
FitPredicate CheckNodeMemoryPressure(const PluginFactoryArgs&);

// CheckNodeDiskPressure: all pods avoid nodes with disk pressure.
FitPredicate CheckNodeDiskPressure(const PluginFactoryArgs&);

// MatchInterPodAffinity: required pod affinity and anti-affinity, both of the pod and of the pods already placed.
FitPredicate MatchInterPodAffinity(const PluginFactoryArgs&);

// Shared with priorities and preemption.
bool Tolerates(const api::Toleration& toleration, const api::Taint& taint);
bool TermsMatch(const std::vector<api::NodeSelectorTerm>& terms, const api::Labels& labels);

}  // namespace berth::scheduler::predicates
