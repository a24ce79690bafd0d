// Rules about volumes, claims and the disks in use on a node. Each function is the factory of one rule, which is
// implemented in a .cc file of this folder.
#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/cache/gates.h"
#include "pkg/scheduler/queue/cluster_event.h"
#include "pkg/scheduler/volumebinder/claim_rules.h"

namespace berth::scheduler::volumes {

// NoDiskConflict (1.10): no pod on the node uses the same GCE PD, EBS volume, iSCSI target or RBD image. Several pods
// may use one read-only, except for EBS. Volumes that the pod uses through claims are not examined.
FitPredicate NoDiskConflict(const PluginFactoryArgs&);
// The same in 1.8: an RBD image there also conflicts if its own list of monitors names one twice.
FitPredicate NoDiskConflictOrRepetition(const PluginFactoryArgs&);

// MaxEBSVolumeCount (default limit 39), MaxGCEPDVolumeCount (16) and MaxAzureDiskVolumeCount (16) of 1.10: the number
// of distinct volumes of the kind on the node does not exceed the limit. If the environment variable KUBE_MAX_PD_VOLS
// is a positive number, it replaces all three limits.
enum class CloudDisk { kEbs, kGcePd, kAzure };
FitPredicate MaxPdVolumeCount(CloudDisk disk, const PluginFactoryArgs& args);

// The same in 1.8: an unbound claim of the pod is an error, and after a claim or volume that does not exist, the pod's
// later volumes are not looked at.
FitPredicate MaxPdVolumeCountUntilMissing(CloudDisk disk, const PluginFactoryArgs& args);

// NoVolumeNodeConflict (1.8, gate PersistentLocalVolumes): the bound volumes of the pod can be used on the node.
FitPredicate NoVolumeNodeConflict(const PluginFactoryArgs&);

// MaxEBSVolumeCount and the others from 1.11 to 1.13: the limit is that of the node, by allocatable (gate
// AttachVolumeLimit) or, for EBS, by instance type. KUBE_MAX_PD_VOLS comes between the two and is read at each call.
FitPredicate MaxPdVolumeCountOfNode(CloudDisk disk, const PluginFactoryArgs& args);

// MaxCSIVolumeCountPred (1.12 and 1.13, gate AttachVolumeLimit): for each CSI driver that the node has a limit for, the
// distinct volume handles on the node and of the pod's bound claims do not exceed it.
FitPredicate MaxCsiVolumeCount(const PluginFactoryArgs& args);

// CheckVolumeBinding (1.10, gate VolumeScheduling): bound volumes can be used on the node, and matching volumes exist
// for the unbound claims.
FitPredicate CheckVolumeBinding(const PluginFactoryArgs&);

// The same from 1.11 on: unbound claims may also be provisioned on the node (ClaimBinder).
FitPredicate CheckVolumeProvisioning(const PluginFactoryArgs&);

// NoVolumeZoneConflict (1.10): the zones and regions in the labels of the pod's volumes include those of the node.
FitPredicate NoVolumeZoneConflict(const PluginFactoryArgs&);
// The same from 1.11 on: the class of an unbound claim may be in the beta annotation.
FitPredicate NoVolumeZoneConflictByClass(const PluginFactoryArgs&);

// ---- later releases -------------------------------------------------------------------------------

// VolumeRestrictions: no pod on the node uses the same inline disk, and no pod anywhere uses a ReadWriteOncePod claim
// of the pod.
FitPredicate VolumeRestrictions(const PluginFactoryArgs& args);
// The same with other words for a claim that is in use.
FitPredicate VolumeRestrictionsSaying(const PluginFactoryArgs& args, std::string_view claim_in_use);

// Returns whether two pods on a node cannot both have these inline volumes. Read-only sharing does not help for EBS,
// and only the iqn of iSCSI volumes is compared. Volumes of any other kind than GCE PD, EBS, RBD and iSCSI do not
// conflict.
bool DisksConflict(const api::Volume& a, const api::Volume& b);

// EBSLimits (default limit 39 or 25), GCEPDLimits (16), AzureDiskLimits (16) and CinderLimits (256): the number of
// distinct in-tree volumes of the kind, on nodes where no CSI driver has replaced the in-tree plugin.
struct InTreeLimit {
  std::string_view provisioner, limit_key;
  api::Volume::Kind kind;
  api::PersistentVolume::Source source;
  int64_t limit;
};
// Returns null if there is no plugin of that name.
const InTreeLimit* FindInTreeLimit(std::string_view plugin);
FitPredicate InTreeVolumeLimits(const PluginFactoryArgs& args, const InTreeLimit& limit, const VolumeRules& rules = {});

// NodeVolumeLimits: the number of volumes of each CSI driver does not exceed the limit of the CSINode or of the node.
FitPredicate CsiVolumeLimits(const PluginFactoryArgs& args);
struct CsiLimitRules {
  bool missing_claim_rejects = false;         // a claim that does not exist is a reason (1.34) and no error
  bool drivers_may_have_to_be_there = false;  // the gate VolumeLimitScaling (1.36)
};
FitPredicate CsiVolumeLimitsBy(const PluginFactoryArgs& args, const VolumeRules& rules, CsiLimitRules limits = {});

// VolumeBinding: bound volumes can be used on the node, and unbound claims find volumes or can be provisioned there.
FitPredicate VolumeBinding(const PluginFactoryArgs& args);
// The same in 1.19: claims that do not exist or are being deleted are left to what is checked before all rules, and
// only unbound claims that do not wait for a consumer reject the pod as a whole.
FitPredicate VolumeBindingOfUnboundClaims(const PluginFactoryArgs& args);
// The same as in 1.29 with other words for the volume of a bound claim that cannot be used on the node.
FitPredicate VolumeBindingSaying(const PluginFactoryArgs& args, ClaimRules rules, std::string_view node_conflict);
// VolumeBinding (1.33, gate StorageCapacityScoring): rates how full the volumes that the pod would get on the node are,
// or else the storage from which they would be provisioned. `shape` has (utilization in percent, score in
// 0..max_score), in ascending order of utilization.
PriorityFunction StorageCapacity(const PluginFactoryArgs& args, ClaimRules rules,
                                 std::vector<std::pair<int64_t, int64_t>> shape);

// VolumeZone: the zones and regions in the labels of bound volumes include those of the node.
FitPredicate VolumeZone(const PluginFactoryArgs& args);
// The same in 1.19: each label of a volume is compared with the same label of the node.
FitPredicate VolumeZoneBySameLabel(const PluginFactoryArgs& args);

// ---- queueing hints (1.36) -----------------------------------------------------------------------

// VolumeRestrictions: a pod of the same namespace is gone that had a claim of the pod or a disk in its way; a claim of
// the pod was created; a node is new.
bool RestrictionsLifted(const api::Pod& pod, const ClusterEvent& e);
// NodeVolumeLimits: a CSINode is new, or one of its drivers may attach more; a pod with a claim or a volume of a
// replaced in-tree plugin is gone; a claim of the pod was created; a volume was detached, and the pod has a claim or an
// inline volume of its driver.
bool VolumeRoomMade(const api::Pod& pod, const ClusterEvent& e);
// VolumeBinding: a claim of the pod is new or has changed; topologies of a class, replaced plugins of a CSINode or the
// size of some storage changed so that more may be possible, or a driver no longer minds the size; a volume, a node, a
// class, a CSINode or some storage is new, or a volume or a node's labels changed.
bool ClaimsMadeBindable(const api::Pod& pod, const ClusterEvent& e);
// VolumeZone: a claim of the pod is new or has changed; zone or region labels of a volume changed; a volume, a node or
// a class is new, or a node's labels changed.
bool ZonesMadeToMatch(const api::Pod& pod, const ClusterEvent& e);

}  // namespace berth::scheduler::volumes
