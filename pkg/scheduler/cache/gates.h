// The feature gates that rules and the volume binder read, with the defaults of Kubernetes 1.10 (a gate that a release
// does not have is off), and what differs between later releases.
#pragma once

namespace berth::scheduler {

struct AlgorithmGates {
  bool pod_priority = false;
  bool volume_scheduling = true;
  bool block_volume = false;
  bool storage_object_in_use_protection = true;
  bool persistent_local_volumes = true;        // read in 1.8
  bool attach_volume_limit = false;            // since 1.11
  bool balance_attached_node_volumes = false;  // since 1.11
};

// What later releases know of volumes. Without other values, the rules are those of 1.29.
struct VolumeRules {
  bool drivers_replace_in_tree = true;   // CSI drivers replace in-tree plugins on nodes with a CSINode (CSI migration)
  bool replaces_portworx = false;        // and one replaces that of Portworx in the limits of a node (since 1.33)
  bool counts_attachments = true;        // VolumeAttachments count against the limits of a node
  bool attacher_is_driver = false;       // those of another attacher than the driver of the volume do not count (1.36)
  bool reads_allocatable_limits = true;  // a node's allocatable amounts limit volumes where its CSINode does not
  bool reads_capacities = true;          // CSIStorageCapacity objects say where a claim can be provisioned
};

}  // namespace berth::scheduler
