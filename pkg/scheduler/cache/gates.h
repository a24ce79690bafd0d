// The feature gates that rules and the volume binder read, with the defaults of Kubernetes 1.10.
#pragma once

namespace berth::scheduler {

struct AlgorithmGates {
  bool pod_priority = false;
  bool volume_scheduling = true;
  bool block_volume = false;
  bool storage_object_in_use_protection = true;
};

}  // namespace berth::scheduler
