// The scheduler's metrics with the names and labels of release 1.29.
#pragma once
#include <memory>
#include <vector>

#include "cmd/kube-scheduler/metrics.h"
#include "pkg/scheduler/configuration/profile.h"

namespace berth::kube_scheduler {

// Adds those metrics of Kubernetes 1.29 that are meaningful here. Because answers are cached, Filter and Score plugins
// are not called one by one. Both extension points are therefore measured as a whole, including PreFilter and PreScore,
// and durations of single plugins exist for DefaultPreemption, VolumeBinding (PreBind) and DefaultBinder only.
void CollectInSeconds(const SchedulerSnapshot& s, std::vector<prometheus::MetricFamily>* out);

// Returns the plugins whose evaluations are counted: those of PreFilter and Filter, and for 1.36 also of
// PreScore and Score.
std::shared_ptr<const std::vector<SchedulerSnapshot::ProfilePlugins>> EvaluatedPlugins(
    const std::vector<scheduler::configuration::ResolvedProfile>& profiles);

}  // namespace berth::kube_scheduler
