#include "pkg/world/rules.h"

namespace berth::world {
namespace {

// Sources: the feature gates and controllers of Kubernetes 1.10, 1.13, 1.19, 1.29 and 1.36.
struct RuleRow {
  bool Rules::*rule;
  release::Span span;
};
constexpr RuleRow kRows[] = {
    {&Rules::priority, release::Since(11)},
    {&Rules::daemon_pods_are_scheduled, release::Since(12)},
    {&Rules::tells_computed_priority, release::Since(12)},
    {&Rules::node_taints, release::Since(13)},
    {&Rules::daemons_tolerate_pid_pressure, release::Since(14)},
    {&Rules::node_leases, release::Since(14)},
    {&Rules::scales_of_any_kind, release::Since(15)},
    {&Rules::runtime_class_scheduling, release::Since(16)},
    {&Rules::runtime_class_overhead, release::Since(18)},
    {&Rules::preemption_policy, release::Since(19)},
    {&Rules::cron_names_in_minutes, release::Since(21)},
    {&Rules::empty_budgets_select_all, release::Since(21)},
    {&Rules::ephemeral_claims, release::Since(21)},
    {&Rules::indexed_jobs, release::Since(22)},
    {&Rules::kubelets_heed_taints, release::Since(22)},
    {&Rules::job_finalizer, release::Since(23)},
    {&Rules::disruption_targets, release::Since(26)},
    {&Rules::job_failure_policy, release::Since(26)},
    {&Rules::newest_default_class, release::Since(26)},
    {&Rules::late_default_class, release::Since(26)},
    {&Rules::prefixed_job_labels, release::Since(27)},
    {&Rules::stateful_start, release::Since(27)},
    {&Rules::unhealthy_pod_eviction_policy, release::Since(27)},
    {&Rules::job_index_label, release::Since(28)},
    {&Rules::stateful_index_label, release::Since(28)},
    {&Rules::job_index_limits, release::Since(29)},
    {&Rules::job_success_policy, release::Since(31)},
    {&Rules::merges_affinity_keys, release::Since(31)},
    {&Rules::job_managed_by, release::Since(32)},
    {&Rules::long_node_grace, release::Since(32)},
    {&Rules::resizes_pods, release::Since(33)},
    {&Rules::daemons_look_at_lone_nodes, release::Since(33)},
    {&Rules::merges_spread_keys, release::Since(34)},
    {&Rules::pod_level_resources, release::Since(34)},
    {&Rules::zone_labels_of_node, release::Since(35)},
};

}  // namespace

Rules RulesOf(release::Version version) {
  Rules rules;
  for (const RuleRow& row : kRows) rules.*row.rule = row.span.Has(version);
  return rules;
}

}  // namespace berth::world
