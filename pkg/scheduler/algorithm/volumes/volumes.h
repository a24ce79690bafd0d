// Rules about volumes, claims and the disks on a node. Each function is the factory of one rule; the rule is in the .cc
// file that bears its name.
#pragma once
#include <string_view>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::volumes {

// NoDiskConflict: no pod on the node uses the same GCE PD, EBS volume, iSCSI target or RBD image (read-only sharing is
// fine but for EBS). Volumes behind claims are not looked at.
FitPredicate NoDiskConflict(const PluginFactoryArgs&);

// MaxEBSVolumeCount (39), MaxGCEPDVolumeCount (16), MaxAzureDiskVolumeCount (16): distinct volumes of the kind on the
// node stay within the limit; KUBE_MAX_PD_VOLS replaces all three when it is a positive number.
enum class CloudDisk { kEbs, kGcePd, kAzure };
FitPredicate MaxPdVolumeCount(CloudDisk disk, const PluginFactoryArgs& args);

// CheckVolumeBinding (gate VolumeScheduling): bound volumes are usable on the node and unbound claims find volumes.
FitPredicate CheckVolumeBinding(const PluginFactoryArgs&);

// NoVolumeZoneConflict: the zone and region labels of the pod's volumes include those of the node.
FitPredicate NoVolumeZoneConflict(const PluginFactoryArgs&);

// ---- release 1.29 -------------------------------------------------------------------------------

// VolumeRestrictions: no pod on the node uses the same inline disk, and nobody uses a ReadWriteOncePod claim of the
// pod.
FitPredicate VolumeRestrictions(const PluginFactoryArgs& args);

// EBSLimits (39 or 25), GCEPDLimits (16), AzureDiskLimits (16), CinderLimits (256): distinct in-tree volumes on nodes
// where no CSI driver has taken over.
struct InTreeLimit {
  std::string_view provisioner, limit_key;
  api::Volume::Kind kind;
  api::PersistentVolume::Source source;
  int64_t limit;
};
// Returns null for a plugin of another name.
const InTreeLimit* FindInTreeLimit(std::string_view plugin);
FitPredicate InTreeVolumeLimits(const PluginFactoryArgs& args, const InTreeLimit& limit);

// NodeVolumeLimits: volumes of each CSI driver stay within what the CSINode or the node says.
FitPredicate CsiVolumeLimits(const PluginFactoryArgs& args);

// VolumeBinding: bound volumes reach the node; unbound claims find volumes, or can be provisioned, there.
FitPredicate VolumeBinding(const PluginFactoryArgs& args);

// VolumeZone: the zones and regions in the labels of bound volumes include the node's.
FitPredicate VolumeZone(const PluginFactoryArgs& args);

}  // namespace berth::scheduler::volumes
