// The page /metrics/resources of release 1.29: requests and limits of each pod that has not finished.
#pragma once
#include <string>
#include <vector>

#include "pkg/api/types.h"

namespace berth::kube_scheduler {

// Returns the page, in the text format of /metrics: kube_pod_resource_request and kube_pod_resource_limit, one sample
// for each pod and resource whose amount is not 0 (Kubernetes 1.29 pkg/scheduler/metrics/resources).
std::string ResourceMetricsText(const std::vector<api::PodPtr>& pods);

}  // namespace berth::kube_scheduler
