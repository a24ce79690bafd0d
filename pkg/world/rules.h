// What API servers and controllers of a release do with objects, as named rules. Each rule is a row with the first
// release that has it, so that the code reads fields and never compares releases.
#pragma once
#include "pkg/release/release.h"

namespace berth::world {

struct Rules {
  // ---- admission ----
  bool priority = false;                  // pods get the priority of their class
  bool preemption_policy = false;         // classes and pods have a preemptionPolicy
  bool tells_computed_priority = false;   // the refusal of a given priority names both values
  bool runtime_class_scheduling = false;  // nodeSelector and tolerations of a RuntimeClass
  bool runtime_class_overhead = false;    // overhead of a RuntimeClass
  bool merges_spread_keys = false;        // matchLabelKeys of spread constraints are merged into selectors
  bool merges_affinity_keys = false;      // matchLabelKeys and mismatchLabelKeys of affinity terms are merged
  bool newest_default_class = false;      // of several default StorageClasses the newest counts; before: an error
  bool late_default_class = false;        // claims that wait without a class get the default class later
  bool pod_level_resources = false;       // spec.resources of a pod
  // ---- controllers ----
  bool daemon_pods_are_scheduled = false;  // before, the DaemonSet controller bound its pods itself
  bool daemons_tolerate_pid_pressure = false;
  bool daemons_look_at_lone_nodes = false;  // a change of a node is looked into only if a pod is missing or must go
  bool prefixed_job_labels = false;         // batch.kubernetes.io/job-name beside job-name
  bool job_finalizer = false;               // batch.kubernetes.io/job-tracking
  bool indexed_jobs = false;                // completionMode Indexed, and suspend
  bool job_index_label = false;             // the completion index is a label as well as an annotation
  bool job_managed_by = false;              // spec.managedBy
  bool job_failure_policy = false;          // spec.podFailurePolicy
  bool job_index_limits = false;            // spec.backoffLimitPerIndex
  bool job_success_policy = false;          // spec.successPolicy
  bool cron_names_in_minutes = false;       // before, seconds
  bool stateful_index_label = false;        // apps.kubernetes.io/pod-index
  bool stateful_start = false;              // spec.ordinals.start
  bool ephemeral_claims = false;            // claims of generic ephemeral volumes
  bool kubelets_heed_taints = false;        // they refuse pods that do not tolerate the NoExecute taints of the node
  // Requests of init containers count for pods on a node as well, and not only for the one that is to be placed: in
  // schedulers and in the kubelets, which count as they do.
  bool init_containers_count_on_nodes = false;
  bool resizes_pods = false;         // pods/NAME/resize, and kubelets that carry it out
  bool zone_labels_of_node = false;  // a bound pod gets the topology labels of its node
  // ---- nodes ----
  bool node_leases = false;      // kubelets renew leases; before, they wrote the whole status every 10 s
  bool node_taints = false;      // conditions of nodes become taints, and taints evict; before, pods of a node that is
                                 // not ready were deleted after five minutes
  bool long_node_grace = false;  // a silent node is given 50 s; before, 40 s
  bool disruption_targets = false;  // what deletes a pod for the cluster's sake says so in a condition
  // ---- budgets ----
  bool scales_of_any_kind = false;  // before: of the kinds of this API that have one
  bool unhealthy_pod_eviction_policy = false;
  bool empty_budgets_select_all = false;  // an empty selector selects all pods (policy/v1); before, none
};

// Returns the rules of a release with its default gates.
Rules RulesOf(release::Version version);

}  // namespace berth::world
