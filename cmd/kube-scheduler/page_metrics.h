// What /metrics shows of the daemon's parts around the scheduler.
#pragma once
#include <absl/time/time.h>
#include <prometheus/metric_family.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cmd/kube-scheduler/cluster_watch.h"
#include "cmd/kube-scheduler/http_server.h"
#include "pkg/client/events.h"

namespace berth::kube_scheduler {

using Families = std::vector<prometheus::MetricFamily>;

// Events by what became of them. Returns how many are waiting or on their way.
double CollectEvents(const std::map<std::string, std::unique_ptr<client::EventRecorder>, std::less<>>& recorders,
                     Families* families);
// Connections to the daemon's own pages.
void CollectPages(const std::vector<std::unique_ptr<HttpServer>>& servers, Families* families);
// Every watched resource. `now` is on the steady clock.
void CollectWatches(const ClusterWatch& watch, absl::Duration now, Families* families);

}  // namespace berth::kube_scheduler
