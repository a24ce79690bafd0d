// The scheduler's metrics under the names and with the labels of release 1.29.
#pragma once
#include <memory>
#include <vector>

#include "cmd/kube-scheduler/metrics.h"
#include "pkg/scheduler/configuration/profile.h"

namespace berth::kube_scheduler {

// Adds those of Kubernetes 1.29's metrics that have a meaning here. Plugins of Filter and Score are not called one by
// one, because answers are kept; so both extension points are observed as a whole, with PreFilter and PreScore in them,
// and durations of single plugins are those of DefaultPreemption, VolumeBinding (PreBind) and DefaultBinder.
void CollectV1_29(const SchedulerSnapshot& s, std::vector<prometheus::MetricFamily>* out);

// Returns the plugins whose evaluations are counted: those of PreFilter and Filter.
std::shared_ptr<const std::vector<SchedulerSnapshot::ProfilePlugins>> EvaluatedPlugins(
    const std::vector<scheduler::configuration::ResolvedProfile>& profiles);

}  // namespace berth::kube_scheduler
