// Rules about volumes, claims and the disks on a node. Each function is the factory of one rule of Kubernetes 1.10; the
// rule is in the .cc file that bears its name.
#pragma once
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

}  // namespace berth::scheduler::volumes
