#include "cmd/kube-scheduler/event_recorders.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cmd/kube-scheduler/secure_serving.h"

namespace berth::kube_scheduler {

namespace {

// Returns whether events are written with series. A server that does not answer is taken for one that has them.
bool WritesSeries(const api::Dialect& dialect, client::Executor* executor, client::HttpClient* client) {
  if (!dialect.event_series || !dialect.asks_for_event_series) return dialect.event_series;
  client::Request r;
  r.target = "/apis/events.k8s.io/v1?timeout=32s";
  r.timeout = absl::Seconds(32);
  constexpr int kNotFound = 404;
  return client::DoBlocking(executor, client, std::move(r)).status != kNotFound;
}

}  // namespace

EventRecorders MakeRecorders(const Configuration& config, int burst, client::Executor* executor,
                             client::HttpClient* client) {
  const api::Dialect& dialect = config.Form().dialect;
  std::vector<std::string> names;
  if (config.ByProfiles()) {
    for (const auto& p : config.plugin_profiles) names.push_back(p.scheduler_name);
  } else {
    names.push_back(config.scheduler_name);
    for (const Profile& p : config.profiles) names.push_back(p.scheduler_name);
  }
  const bool series = WritesSeries(dialect, executor, client);
  // Events about the lock are written in v1 in every release.
  if (series) names.emplace_back();
  EventRecorders recorders;
  for (const std::string& name : names) {
    client::EventRecorderOptions o;
    o.component = name.empty() ? config.scheduler_name : name;
    if (series && !name.empty()) o.series_instance = absl::StrCat(name, "-", HostName());
    if (dialect.reports_component) o.reporting_component = o.component;
    o.structured_log = dialect.structured_log;
    // The queue can hold one burst of events.
    o.queue_limit = static_cast<size_t>(std::clamp(burst, 1000, 50'000));
    o.in_flight = std::clamp(burst, 64, 1024);
    // Nobody waits for an event, and a thread that is woken for each would interrupt the one that decides.
    o.gather = absl::Milliseconds(200);
    recorders[name] = std::make_unique<client::EventRecorder>(executor, client, std::move(o));
  }
  return recorders;
}

client::EventRecorder* RecorderOfLock(const Configuration& config, const EventRecorders& recorders) {
  const auto own = recorders.find("");
  return (own != recorders.end() ? own : recorders.find(config.scheduler_name))->second.get();
}

}  // namespace berth::kube_scheduler
