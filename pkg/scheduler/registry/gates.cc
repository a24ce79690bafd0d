#include "pkg/scheduler/registry/release.h"

namespace berth::scheduler {

SchedulerGates MakeGates(absl::FunctionRef<bool(std::string_view)> on) {
  SchedulerGates g;
  g.algorithm.pod_priority = on("PodPriority");
  g.algorithm.volume_scheduling = on("VolumeScheduling");
  g.algorithm.block_volume = on("BlockVolume");
  g.algorithm.storage_object_in_use_protection = on("StorageObjectInUseProtection");
  g.algorithm.persistent_local_volumes = on("PersistentLocalVolumes");
  g.algorithm.attach_volume_limit = on("AttachVolumeLimit");
  g.algorithm.balance_attached_node_volumes = on("BalanceAttachedNodeVolumes");
  g.taint_nodes_by_condition = on("TaintNodesByCondition");
  g.resource_limits_priority_function = on("ResourceLimitsPriorityFunction");
  return g;
}

}  // namespace berth::scheduler
