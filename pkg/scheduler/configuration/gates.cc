#include "pkg/scheduler/configuration/gates.h"

namespace berth::scheduler::configuration {

Gates GatesBy(absl::FunctionRef<bool(std::string_view name, bool otherwise)> on) {
  Gates g;
  g.pod_scheduling_readiness = on("PodSchedulingReadiness", g.pod_scheduling_readiness);
  g.volume_capacity_priority = on("VolumeCapacityPriority", g.volume_capacity_priority);
  g.dynamic_resource_allocation = on("DynamicResourceAllocation", g.dynamic_resource_allocation);
  g.storage_capacity_scoring = on("StorageCapacityScoring", g.storage_capacity_scoring);
  g.volume_limit_scaling = on("VolumeLimitScaling", g.volume_limit_scaling);
  g.taint_comparison_operators = on("TaintTolerationComparisonOperators", g.taint_comparison_operators);
  g.opportunistic_batching = on("OpportunisticBatching", g.opportunistic_batching);
  g.dra_filter_timeout = on("DRASchedulerFilterTimeout", g.dra_filter_timeout);
  g.dra_binding_timeout =
      on("DRADeviceBindingConditions", g.dra_binding_timeout) && on("DRAResourceClaimDeviceStatus", true);
  return g;
}

}  // namespace berth::scheduler::configuration
