#include "pkg/world/rules.h"

#include <charconv>
#include <climits>

namespace berth::world {
namespace {

// Sources: the feature gates and controllers of Kubernetes 1.10, 1.13, 1.19, 1.29 and 1.36.
struct RuleRow {
  bool Rules::*rule;
  int since;  // minor version of Kubernetes 1
};
constexpr RuleRow kRows[] = {
    {&Rules::priority, 11},
    {&Rules::daemon_pods_are_scheduled, 12},
    {&Rules::tells_computed_priority, 12},
    {&Rules::daemons_tolerate_pid_pressure, 14},
    {&Rules::scales_of_any_kind, 15},
    {&Rules::runtime_class_scheduling, 16},
    {&Rules::runtime_class_overhead, 18},
    {&Rules::preemption_policy, 19},
    {&Rules::cron_names_in_minutes, 21},
    {&Rules::ephemeral_claims, 21},
    {&Rules::indexed_jobs, 22},
    {&Rules::job_finalizer, 23},
    {&Rules::newest_default_class, 26},
    {&Rules::late_default_class, 26},
    {&Rules::prefixed_job_labels, 27},
    {&Rules::stateful_start, 27},
    {&Rules::unhealthy_pod_eviction_policy, 27},
    {&Rules::job_index_label, 28},
    {&Rules::stateful_index_label, 28},
    {&Rules::merges_affinity_keys, 31},
    {&Rules::job_managed_by, 32},
    {&Rules::merges_spread_keys, 34},
    {&Rules::pod_level_resources, 34},
    {&Rules::zone_labels_of_node, 35},
};

int MinorOf(std::string_view release) {
  constexpr std::string_view kMajor = "1.";
  int minor = INT_MAX;
  if (!release.starts_with(kMajor)) return minor;
  release.remove_prefix(kMajor.size());
  std::from_chars(release.data(), release.data() + release.size(), minor);
  return minor;
}

}  // namespace

Rules RulesOf(std::string_view release) {
  const int minor = MinorOf(release);
  Rules rules;
  for (const RuleRow& row : kRows) rules.*row.rule = minor >= row.since;
  return rules;
}

}  // namespace berth::world
