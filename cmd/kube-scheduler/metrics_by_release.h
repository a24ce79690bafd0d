// Metrics of the scheduler that only some releases have.
#pragma once
#include <vector>

#include "cmd/kube-scheduler/metrics.h"

namespace berth::kube_scheduler {

// Adds the parts of attempts, each measured apart (1.19): filtering, scoring, preemption and binding.
void AddPartsInSeconds(const scheduler::SchedulerMetrics& m, const releases::MetricsForm& form,
                       std::vector<prometheus::MetricFamily>* out);
// Adds the same as a summary (1.13, 1.19), if the form names it; it is deprecated beside the parts. Its quantiles are
// those since the start and at most an eighth away; in the releases they are those of the last five hours.
void AddPartsSummary(const scheduler::SchedulerMetrics& m, const releases::MetricsForm& form,
                     std::vector<prometheus::MetricFamily>* out);
// Adds how long the steps of volume binding took, and how often they failed (1.13).
void AddVolumeSteps(const scheduler::VolumeMetrics& m, std::vector<prometheus::MetricFamily>* out);
// Adds how many answers of the equivalence cache were used (1.13): none, because there is none here.
void AddEquivalenceCache(std::vector<prometheus::MetricFamily>* out);
// Adds what 1.36 measures of changes of the cluster, hints, batches and evictions (pkg/scheduler/metrics/metrics.go).
void AddEventMetrics(const SchedulerSnapshot& s, std::vector<prometheus::MetricFamily>* out);

}  // namespace berth::kube_scheduler
