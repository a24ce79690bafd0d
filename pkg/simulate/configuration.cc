#include "pkg/simulate/configuration.h"

#include <absl/strings/str_cat.h>

#include <limits>

#include "pkg/releases/daemon_form.h"
#include "pkg/scheduler/factory/factory.h"
#include "pkg/util/status.h"

namespace berth::simulate {

absl::StatusOr<recording::CoreConfiguration> ConfigurationOf(const lab::Algorithm& algorithm, const std::string& policy,
                                                             const std::string& configuration) {
  BERTH_RETURN_IF_ERROR(algorithm.CheckSource());
  recording::CoreConfiguration c;
  c.release = std::string(algorithm.release->name);
  const scheduler::SchedulerGates gates = algorithm.Gates();
  const scheduler::AlgorithmGates& a = gates.algorithm;
  const bool profiles = algorithm.ByProfiles();
  c.gates = {{"PodPriority", a.pod_priority || profiles},
             {"VolumeScheduling", a.volume_scheduling},
             {"BlockVolume", a.block_volume},
             {"StorageObjectInUseProtection", a.storage_object_in_use_protection},
             {"TaintNodesByCondition", gates.taint_nodes_by_condition},
             {"ResourceLimitsPriorityFunction", gates.resource_limits_priority_function}};
  if (a.attach_volume_limit) c.gates["AttachVolumeLimit"] = true;
  if (a.balance_attached_node_volumes) c.gates["BalanceAttachedNodeVolumes"] = true;
  // Those that change the meaning of a configuration are only named here.
  c.gates.insert(algorithm.gates.begin(), algorithm.gates.end());
  c.hard_pod_affinity_symmetric_weight = algorithm.hard_pod_affinity_symmetric_weight;
  c.ignore_unknown_fields = algorithm.ignore_unknown_fields;
  if (algorithm.Decides().sampling != nullptr) c.percentage = algorithm.SamplePercentage();
  // Decisions take no time, so that a pod waits for nothing but its node.
  c.max_requests_in_flight = std::numeric_limits<int64_t>::max();
  const releases::DaemonForm& form = releases::DaemonFormOf(*algorithm.release);
  if (form.max_backoff > absl::ZeroDuration()) c.max_backoff = form.max_backoff;
  if (form.unschedulable_limit > absl::ZeroDuration()) c.unschedulable_limit = form.unschedulable_limit;

  if (algorithm.profiles) {
    for (const auto& p : *algorithm.profiles) c.profiles.push_back({p.scheduler_name, "", "", configuration});
    return c;
  }
  recording::ProfileSource one{"default-scheduler", "", "", ""};
  if (algorithm.policy) {
    one.policy = policy;
  } else if (algorithm.provider && algorithm.Decides().has_policies) {
    one.provider = *algorithm.provider;
  } else if (!profiles) {
    one.provider = std::string(scheduler::kDefaultProvider);
  }
  c.profiles.push_back(std::move(one));
  return c;
}

}  // namespace berth::simulate
