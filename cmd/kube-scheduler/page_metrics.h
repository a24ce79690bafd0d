// The metrics of the daemon's parts around the scheduler.
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

// Adds numbers of events by their result. Returns how many are waiting or in flight.
double CollectEvents(const std::map<std::string, std::unique_ptr<client::EventRecorder>, std::less<>>& recorders,
                     Families* families);
// Adds numbers of connections to the daemon's own pages.
void CollectPages(const std::vector<std::unique_ptr<HttpServer>>& servers, Families* families);
// Adds the state of every watched resource. `now` is on the steady clock.
void CollectWatches(const ClusterWatch& watch, absl::Duration now, Families* families);

}  // namespace berth::kube_scheduler
