// Metrics about the parts of the daemon: its events, its HTTP servers, its watches.
#pragma once
#include <prometheus/metric_family.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cmd/kube-scheduler/cluster_watch.h"
#include "cmd/kube-scheduler/http_server.h"
#include "pkg/client/events.h"
#include "pkg/util/clock.h"

namespace berth::kube_scheduler {

// Events by what became of them, over all recorders.
void CollectEvents(const std::map<std::string, std::unique_ptr<client::EventRecorder>, std::less<>>& recorders,
                   std::vector<prometheus::MetricFamily>* families);
// Connections of each server.
void CollectServers(const std::vector<std::unique_ptr<HttpServer>>& servers,
                    std::vector<prometheus::MetricFamily>* families);
// What each watch received.
void CollectWatches(const std::vector<ClusterWatch::Stats>& watches, const util::Clock& clock,
                    std::vector<prometheus::MetricFamily>* families);

}  // namespace berth::kube_scheduler
