#include "cmd/kube-scheduler/daemon_metrics.h"

#include "cmd/kube-scheduler/metrics.h"

namespace berth::kube_scheduler {

using prometheus::MetricType;

void CollectEvents(const std::map<std::string, std::unique_ptr<client::EventRecorder>, std::less<>>& recorders,
                   std::vector<prometheus::MetricFamily>* families) {
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
  families->push_back(Family("scheduler_events_queued", MetricType::Gauge, "Number of events waiting or on their way"));
  AddSample(&families->back(), {}, queued);
}

void CollectServers(const std::vector<std::unique_ptr<HttpServer>>& servers,
                    std::vector<prometheus::MetricFamily>* families) {
  auto pages = Family("scheduler_http_connections", MetricType::Gauge, "Number of open connections to this process.");
  auto refused = Family("scheduler_http_refused_total", MetricType::Counter,
                        "Number of connections that were closed at once, as there were too many.");
  for (const auto& server : servers) {
    const HttpServer::Stats stats = server->stats();
    AddSample(&pages, {{"server", stats.name}}, static_cast<double>(stats.connections));
    AddSample(&refused, {{"server", stats.name}}, static_cast<double>(stats.refused));
  }
  families->push_back(std::move(pages));
  families->push_back(std::move(refused));
}

void CollectWatches(const std::vector<ClusterWatch::Stats>& watches, const util::Clock& clock,
                    std::vector<prometheus::MetricFamily>* families) {
  auto watching = Family("scheduler_watch_open", MetricType::Gauge, "1 while the watch of a resource is open.");
  auto lag = Family("scheduler_watch_idle_seconds", MetricType::Gauge,
                    "Seconds since the API server last sent anything about a resource.");
  auto watch_events = Family("scheduler_watch_events_total", MetricType::Counter, "Number of changes received.");
  auto lists = Family("scheduler_watch_lists_total", MetricType::Counter, "Number of times a resource was listed.");
  auto undecodable = Family("scheduler_watch_undecodable_total", MetricType::Counter,
                            "Number of objects that could not be read and were skipped.");
  for (const auto& s : watches) {
    const std::vector<std::pair<std::string, std::string>> label = {{"resource", s.resource}};
    AddSample(&watching, label, s.reflector->watching ? 1 : 0);
    const int64_t last = s.reflector->last_activity_nanos;
    if (last != 0) {
      AddSample(&lag, label, absl::ToDoubleSeconds(clock.Steady() - absl::Nanoseconds(last)));
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
