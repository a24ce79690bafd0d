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
  bool prefixed_job_labels = false;    // batch.kubernetes.io/job-name beside job-name
  bool job_finalizer = false;          // batch.kubernetes.io/job-tracking
  bool indexed_jobs = false;           // completionMode Indexed, and suspend
  bool job_index_label = false;        // the completion index is a label as well as an annotation
  bool job_managed_by = false;         // spec.managedBy
  bool cron_names_in_minutes = false;  // before, seconds
  bool stateful_index_label = false;   // apps.kubernetes.io/pod-index
  bool stateful_start = false;         // spec.ordinals.start
  bool ephemeral_claims = false;       // claims of generic ephemeral volumes
  bool zone_labels_of_node = false;    // a bound pod gets the topology labels of its node
  // ---- budgets ----
  bool scales_of_any_kind = false;  // before: of the kinds of this API that have one
  bool unhealthy_pod_eviction_policy = false;
};

// Returns the rules of a release with its default gates.
Rules RulesOf(release::Version version);

}  // namespace berth::world
