// The scheduler's metrics under the names and with the labels of release 1.29.
#pragma once
#include "cmd/kube-scheduler/metrics.h"

namespace berth::kube_scheduler {

// Adds those of Kubernetes 1.29's metrics that have a meaning here. What it counts for each plugin and extension point
// is left out: kept answers are not computed by calling plugins one by one.
void CollectV1_29(const SchedulerSnapshot& s, std::vector<prometheus::MetricFamily>* out);

}  // namespace berth::kube_scheduler
