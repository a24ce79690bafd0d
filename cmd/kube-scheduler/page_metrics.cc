#include "cmd/kube-scheduler/page_metrics.h"

#include <utility>

#include "cmd/kube-scheduler/metrics.h"

namespace berth::kube_scheduler {

using prometheus::MetricType;

double CollectEvents(const std::map<std::string, std::unique_ptr<client::EventRecorder>, std::less<>>& recorders,
                     Families* families) {
  auto events = Family("scheduler_events_total", MetricType::Counter, "Number of events, by what became of them.");
  double recorded = 0, dropped = 0, spam = 0, sent = 0, rejected = 0, queued = 0;
  for (const auto& [name, r] : recorders) {
    const client::EventStats& s = r->stats();
    recorded += static_cast<double>(s.recorded);
    dropped += static_cast<double>(s.dropped);
    spam += static_cast<double>(s.spam);
    sent += static_cast<double>(s.sent);
    rejected += static_cast<double>(s.rejected);
    queued += static_cast<double>(s.queued);
  }
  AddSample(&events, {{"result", "dropped"}}, dropped);
  AddSample(&events, {{"result", "recorded"}}, recorded);
  AddSample(&events, {{"result", "rejected"}}, rejected);
  AddSample(&events, {{"result", "sent"}}, sent);
  AddSample(&events, {{"result", "spam"}}, spam);
  families->push_back(std::move(events));
  return queued;
}

void CollectPages(const std::vector<std::unique_ptr<HttpServer>>& servers, Families* families) {
  auto pages = Family("scheduler_http_connections", MetricType::Gauge, "Number of open connections to this process.");
  auto refused = Family("scheduler_http_refused_total", MetricType::Counter,
                        "Number of connections that were closed at once, as there were too many.");
  auto displaced = Family("scheduler_http_displaced_total", MetricType::Counter,
                          "Number of connections that were closed while idle, to make room for others.");
  for (const auto& server : servers) {
    const http::ServerStats& stats = server->stats();
    AddSample(&pages, {{"server", server->name()}}, static_cast<double>(stats.connections));
    AddSample(&refused, {{"server", server->name()}}, static_cast<double>(stats.refused));
    AddSample(&displaced, {{"server", server->name()}}, static_cast<double>(stats.displaced));
  }
  families->push_back(std::move(pages));
  families->push_back(std::move(refused));
  families->push_back(std::move(displaced));
}

void CollectWatches(const ClusterWatch& watch, absl::Duration now, Families* families) {
  auto watching = Family("scheduler_watch_open", MetricType::Gauge, "1 while the watch of a resource is open.");
  auto lag = Family("scheduler_watch_idle_seconds", MetricType::Gauge,
                    "Seconds since the API server last sent anything about a resource.");
  auto watch_events = Family("scheduler_watch_events_total", MetricType::Counter, "Number of changes received.");
  auto lists = Family("scheduler_watch_lists_total", MetricType::Counter, "Number of times a resource was listed.");
  auto undecodable = Family("scheduler_watch_undecodable_total", MetricType::Counter,
                            "Number of objects that could not be read and were skipped.");
  for (const auto& s : watch.stats()) {
    if (s.reflector->absent) continue;
    const std::vector<std::pair<std::string, std::string>> label = {{"resource", s.resource}};
    AddSample(&watching, label, s.reflector->watching ? 1 : 0);
    const int64_t last = s.reflector->last_activity_nanos;
    if (last != 0) {
      AddSample(&lag, label, absl::ToDoubleSeconds(now - absl::Nanoseconds(last)));
    }
    AddSample(&watch_events, label, static_cast<double>(s.reflector->events));
    AddSample(&lists, label, static_cast<double>(s.reflector->lists));
    AddSample(&undecodable, label, static_cast<double>(s.reflector->undecodable));
  }
  families->push_back(std::move(watching));
  if (!lag.metric.empty()) families->push_back(std::move(lag));
  families->push_back(std::move(watch_events));
  families->push_back(std::move(lists));
  families->push_back(std::move(undecodable));
}

}  // namespace berth::kube_scheduler
