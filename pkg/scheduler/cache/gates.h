// The feature gates that rules and the volume binder read, with the defaults of Kubernetes 1.10. A gate that a release
// does not have is off.
#pragma once

namespace berth::scheduler {

struct AlgorithmGates {
  bool pod_priority = false;
  bool volume_scheduling = true;
  bool block_volume = false;
  bool storage_object_in_use_protection = true;
  bool attach_volume_limit = false;            // since 1.11
  bool balance_attached_node_volumes = false;  // since 1.11
};

}  // namespace berth::scheduler
