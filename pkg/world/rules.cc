#include "pkg/world/rules.h"

#include "pkg/release/history.h"

namespace berth::world {
namespace {

namespace history = release::history;

struct RuleRow {
  bool Rules::*rule;
  release::Span span;
};
constexpr RuleRow kRows[] = {
    {&Rules::priority, history::kPriority},
    {&Rules::daemon_pods_are_scheduled, history::kDaemonPodsAreScheduled},
    {&Rules::tells_computed_priority, history::kTellsComputedPriority},
    {&Rules::node_taints, history::kNodeTaints},
    {&Rules::daemons_tolerate_pid_pressure, history::kDaemonsToleratePidPressure},
    {&Rules::node_leases, history::kNodeLeases},
    {&Rules::scales_of_any_kind, history::kScalesOfAnyKind},
    {&Rules::runtime_class_scheduling, history::kRuntimeClassScheduling},
    {&Rules::runtime_class_overhead, history::kRuntimeClassOverhead},
    {&Rules::preemption_policy, history::kPreemptionPolicies},
    {&Rules::init_containers_count_on_nodes, history::kInitContainersCountOnNodes},
    {&Rules::cron_names_in_minutes, history::kCronNamesInMinutes},
    {&Rules::empty_budgets_select_all, history::kEmptyBudgetsSelectAll},
    {&Rules::ephemeral_claims, history::kEphemeralClaims},
    {&Rules::indexed_jobs, history::kIndexedJobs},
    {&Rules::kubelets_heed_taints, history::kKubeletsHeedTaints},
    {&Rules::job_finalizer, history::kJobFinalizer},
    {&Rules::disruption_targets, history::kDisruptionTargets},
    {&Rules::job_failure_policy, history::kJobFailurePolicy},
    {&Rules::newest_default_class, history::kNewestDefaultClass},
    {&Rules::late_default_class, history::kLateDefaultClass},
    {&Rules::prefixed_job_labels, history::kPrefixedJobLabels},
    {&Rules::stateful_start, history::kStatefulStart},
    {&Rules::unhealthy_pod_eviction_policy, history::kUnhealthyPodEvictionPolicy},
    {&Rules::job_index_label, history::kJobIndexLabel},
    {&Rules::stateful_index_label, history::kStatefulIndexLabel},
    {&Rules::job_index_limits, history::kJobIndexLimits},
    {&Rules::job_success_policy, history::kJobSuccessPolicy},
    {&Rules::merges_affinity_keys, history::kMergesAffinityKeys},
    {&Rules::job_managed_by, history::kJobManagedBy},
    {&Rules::long_node_grace, history::kLongNodeGrace},
    {&Rules::resizes_pods, history::kResizesPods},
    {&Rules::daemons_look_at_lone_nodes, history::kDaemonsLookAtLoneNodes},
    {&Rules::merges_spread_keys, history::kMergesSpreadKeys},
    {&Rules::pod_level_resources, history::kPodLevelResources},
    {&Rules::zone_labels_of_node, history::kZoneLabelsOfNode},
};

}  // namespace

Rules RulesOf(release::Version version) {
  Rules rules;
  for (const RuleRow& row : kRows) rules.*row.rule = row.span.Has(version);
  return rules;
}

}  // namespace berth::world
