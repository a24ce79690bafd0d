// Maps the scheduler's own counters to the metrics of release 1.29.
#include "cmd/kube-scheduler/metrics_in_seconds.h"

#include "cmd/kube-scheduler/metrics_by_release.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string>

#include "pkg/util/status.h"

namespace berth::kube_scheduler {

using prometheus::MetricFamily;
using prometheus::MetricType;
using scheduler::Scheduler;

namespace {

constexpr double kMicrosInSecond = 1e6;
constexpr std::array<const char*, scheduler::kAttemptResults> kResults = {"error", "scheduled", "unschedulable"};

void AddAttempts(const SchedulerSnapshot& s, std::vector<MetricFamily>* out) {
  const scheduler::SchedulerMetrics& m = s.metrics;
  MetricFamily total = Family("scheduler_schedule_attempts_total", MetricType::Counter,
                              "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could "
                              "not be scheduled, while 'error' means an internal scheduler problem.");
  MetricFamily took = s.form.of_parts
                          ? Family("scheduler_e2e_scheduling_duration_seconds", MetricType::Histogram,
                                   "E2e scheduling latency in seconds (scheduling algorithm + binding)")
                          : Family("scheduler_scheduling_attempt_duration_seconds", MetricType::Histogram,
                                   "Scheduling attempt latency in seconds (scheduling algorithm + binding)");
  for (const auto& [profile, counted] : m.by_profile) {
    const auto& attempts = counted.attempts;
    for (size_t i = 0; i < attempts.size(); ++i) {
      if (attempts[i].count() == 0) continue;
      AddSample(&total, {{"profile", profile}, {"result", kResults[i]}}, static_cast<double>(attempts[i].count()));
      AddHistogramSample(&took, {{"profile", profile}, {"result", kResults[i]}}, attempts[i], kMicrosInSecond);
    }
  }
  if (total.metric.empty()) return;
  out->push_back(std::move(total));
  out->push_back(std::move(took));
}

void AddWaits(const SchedulerSnapshot& s, std::vector<MetricFamily>* out) {
  const scheduler::SchedulerMetrics& m = s.metrics;
  MetricFamily attempts = Family("scheduler_pod_scheduling_attempts", MetricType::Histogram,
                                 "Number of attempts to successfully schedule a pod.");
  AddHistogramSample(&attempts, {}, m.attempts_to_bind, 1);
  out->push_back(std::move(attempts));
  MetricFamily sli = Family("scheduler_pod_scheduling_sli_duration_seconds", MetricType::Histogram,
                            "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue "
                            "and might involve multiple scheduling attempts.");
  const std::string since = absl::StrCat("(Deprecated since ", util::ToAbsl(s.form.deprecated_since), ") ");
  MetricFamily duration = Family("scheduler_pod_scheduling_duration_seconds", MetricType::Histogram,
                                 absl::StrCat(s.form.of_parts ? "" : since,
                                              "E2e latency for a pod being scheduled which may include multiple "
                                              "scheduling attempts."));
  for (size_t i = 0; i < m.waits.size(); ++i) {
    if (m.waits[i].count() == 0) continue;
    const std::string label = i + 1 == m.waits.size() ? absl::StrCat(i + 1, "+") : absl::StrCat(i + 1);
    AddHistogramSample(&sli, {{"attempts", label}}, m.waits[i], kMicrosInSecond);
    AddHistogramSample(&duration, {{"attempts", label}}, m.waits[i], kMicrosInSecond);
  }
  if (sli.metric.empty()) return;
  if (!s.form.drops_old) out->push_back(std::move(duration));
  if (!s.form.of_parts) out->push_back(std::move(sli));
}

// The values of the label `status` and the names of the stages: 1.29's codes and extension points.
constexpr std::array<const char*, scheduler::kStageStatuses> kStatuses = {"Success", "Unschedulable", "Error"};
constexpr std::array<const char*, scheduler::kStages> kPoints = {"Filter", "Score", "PostFilter", "PreBind", "Bind"};
constexpr std::array<const char*, scheduler::kStages> kPluginOfPoint = {"", "", "DefaultPreemption", "VolumeBinding",
                                                                        "DefaultBinder"};

void AddStages(const scheduler::SchedulerMetrics& m, std::vector<MetricFamily>* out) {
  MetricFamily points = Family("scheduler_framework_extension_point_duration_seconds", MetricType::Histogram,
                               "Latency for running all plugins of a specific extension point.");
  MetricFamily plugins = Family("scheduler_plugin_execution_duration_seconds", MetricType::Histogram,
                                "Duration for running a plugin at a specific extension point.");
  for (size_t point = 0; point < scheduler::kStages; ++point) {
    for (size_t status = 0; status < scheduler::kStageStatuses; ++status) {
      for (const auto& [profile, counted] : m.by_profile) {
        const scheduler::StageHistogram& h = counted.stages[point][status];
        if (h.count() == 0) continue;
        AddHistogramSample(&points,
                           {{"extension_point", kPoints[point]}, {"profile", profile}, {"status", kStatuses[status]}},
                           h, kMicrosInSecond);
      }
      const scheduler::PluginHistogram& h = m.plugins[point][status];
      if (h.count() == 0) continue;
      AddHistogramSample(
          &plugins,
          {{"extension_point", kPoints[point]}, {"plugin", kPluginOfPoint[point]}, {"status", kStatuses[status]}}, h,
          1);
    }
  }
  if (!points.metric.empty()) out->push_back(std::move(points));
  if (!plugins.metric.empty()) out->push_back(std::move(plugins));
}

// Each attempt counts every plugin of the profile, whether its answer is cached or computed.
void AddEvaluations(const SchedulerSnapshot& s, std::vector<MetricFamily>* out) {
  if (s.plugins == nullptr || s.form.of_parts) return;
  MetricFamily evaluations =
      Family("scheduler_plugin_evaluation_total", MetricType::Counter,
             absl::StrCat("Number of attempts to schedule pods by each plugin and the "
                          "extension point (available only in PreFilter",
                          s.form.of_events ? ", Filter, PreScore, and Score)." : " and Filter.)."));
  for (const SchedulerSnapshot::ProfilePlugins& p : *s.plugins) {
    const auto counted = s.metrics.by_profile.find(p.profile);
    if (counted == s.metrics.by_profile.end()) continue;
    const bool scores = p.extension_point == "PreScore" || p.extension_point == "Score";
    if (scores && !s.form.of_events) continue;
    uint64_t attempts = 0;
    if (scores) {
      for (const auto& h : counted->second.stages[static_cast<size_t>(scheduler::Stage::kScore)]) attempts += h.count();
    } else {
      for (const auto& h : counted->second.attempts) attempts += h.count();
    }
    for (const std::string& plugin : p.plugins) {
      AddSample(&evaluations, {{"extension_point", p.extension_point}, {"plugin", plugin}, {"profile", p.profile}},
                static_cast<double>(attempts));
    }
  }
  if (!evaluations.metric.empty()) out->push_back(std::move(evaluations));
}

void AddQueue(const SchedulerSnapshot& s, std::vector<MetricFamily>* out) {
  MetricFamily incoming = Family("scheduler_queue_incoming_pods_total", MetricType::Counter,
                                 "Number of pods added to scheduling queues by event and queue type.");
  for (const auto& i : s.queue_counts.incoming) {
    AddSample(&incoming, {{"event", std::string(i.event)}, {"queue", std::string(i.queue)}},
              static_cast<double>(i.pods));
  }
  if (!incoming.metric.empty()) out->push_back(std::move(incoming));
  MetricFamily rejected = Family("scheduler_unschedulable_pods", MetricType::Gauge,
                                 "The number of unschedulable pods broken down by plugin name. A pod will increment "
                                 "the gauge for all plugins that caused it to not schedule and so this metric have "
                                 "meaning only when broken down by plugin.");
  for (const auto& r : s.queue_counts.rejected) {
    AddSample(&rejected, {{"plugin", r.plugin.string()}, {"profile", r.profile.string()}}, static_cast<double>(r.pods));
  }
  for (const auto& [profile, counted] : s.metrics.by_profile) {
    AddSample(&rejected, {{"plugin", "SchedulingGates"}, {"profile", profile}}, static_cast<double>(counted.gated));
  }
  if (!rejected.metric.empty() && !s.form.of_parts) out->push_back(std::move(rejected));
  MetricFamily running =
      Family(s.form.of_parts ? "scheduler_scheduler_goroutines" : "scheduler_goroutines", MetricType::Gauge,
             "Number of running goroutines split by the work they do such as binding.");
  AddSample(&running, {{s.form.of_parts ? "work" : "operation", "binding"}}, static_cast<double>(s.binds_in_flight));
  out->push_back(std::move(running));
}

// Kubernetes puts the stability of a metric at the beginning of its help text.
void AddStability(const releases::MetricsForm& form, std::vector<MetricFamily>* families, size_t from) {
  static const std::set<std::string, std::less<>> kStable = {
      "scheduler_framework_extension_point_duration_seconds",
      "scheduler_pending_pods",
      "scheduler_pod_scheduling_attempts",
      "scheduler_pod_scheduling_duration_seconds",
      "scheduler_preemption_attempts_total",
      "scheduler_preemption_victims",
      "scheduler_queue_incoming_pods_total",
      "scheduler_schedule_attempts_total",
      "scheduler_scheduling_attempt_duration_seconds",
  };
  static const std::set<std::string, std::less<>> kBetaToo = {
      "scheduler_goroutines",
      "scheduler_plugin_evaluation_total",
      "scheduler_unschedulable_pods",
  };
  for (size_t i = from; i < families->size(); ++i) {
    MetricFamily& f = (*families)[i];
    const bool beta =
        f.name == "scheduler_pod_scheduling_sli_duration_seconds" || (form.of_events && kBetaToo.contains(f.name));
    f.help.insert(0, form.of_parts              ? "[ALPHA] "
                     : kStable.contains(f.name) ? "[STABLE] "
                     : beta                     ? "[BETA] "
                                                : "[ALPHA] ");
  }
}

}  // namespace

void CollectInSeconds(const SchedulerSnapshot& s, std::vector<MetricFamily>* out) {
  const auto& m = s.metrics;
  const size_t before = out->size();
  AddAttempts(s, out);
  AddWaits(s, out);
  AddStages(m, out);
  AddEvaluations(s, out);
  AddQueue(s, out);
  MetricFamily algorithm = Family("scheduler_scheduling_algorithm_duration_seconds", MetricType::Histogram,
                                  "Scheduling algorithm latency in seconds");
  AddHistogramSample(&algorithm, {}, m.algorithm, kMicrosInSecond);
  out->push_back(std::move(algorithm));
  MetricFamily victims =
      Family("scheduler_preemption_victims", MetricType::Histogram, "Number of selected preemption victims");
  if (s.form.of_parts) {
    AddHistogramSample(&victims, {}, m.victims_by_five, 1);
  } else {
    AddHistogramSample(&victims, {}, m.victims, 1);
  }
  out->push_back(std::move(victims));
  MetricFamily preemptions = Family("scheduler_preemption_attempts_total", MetricType::Counter,
                                    "Total preemption attempts in the cluster till now");
  AddSample(&preemptions, {}, static_cast<double>(m.preemption_attempts));
  out->push_back(std::move(preemptions));
  MetricFamily pending =
      Family("scheduler_pending_pods", MetricType::Gauge,
             absl::StrCat("Number of pending pods, by the queue type. 'active' means number of pods in "
                          "activeQ; 'backoff' means number of pods in backoffQ; 'unschedulable' means number "
                          "of pods in ",
                          s.form.of_parts ? "unschedulableQ."
                                          : "unschedulablePods that the scheduler attempted to schedule and "
                                            "failed; 'gated' is the number of unschedulable pods that the "
                                            "scheduler never attempted to schedule because they are gated."));
  AddSample(&pending, {{"queue", "active"}}, static_cast<double>(s.queue.active));
  AddSample(&pending, {{"queue", "backoff"}}, static_cast<double>(s.queue.backoff));
  if (!s.form.of_parts) {
    AddSample(&pending, {{"queue", "gated"}},
              static_cast<double>(s.by_place[static_cast<size_t>(Scheduler::Place::kGated)]));
  }
  AddSample(&pending, {{"queue", "unschedulable"}}, static_cast<double>(s.queue.unschedulable));
  out->push_back(std::move(pending));
  if (s.form.of_parts) AddPartsInSeconds(m, s.form, out);
  if (!s.form.summary_of_parts.empty()) AddPartsSummary(m, s.form, out);
  if (s.form.of_events) AddEventMetrics(s, out);
  AddStability(s.form, out, before);
}

std::shared_ptr<const std::vector<SchedulerSnapshot::ProfilePlugins>> EvaluatedPlugins(
    const std::vector<scheduler::configuration::ResolvedProfile>& profiles) {
  using scheduler::configuration::ExtensionPoint;
  auto all = std::make_shared<std::vector<SchedulerSnapshot::ProfilePlugins>>();
  for (const auto& profile : profiles) {
    for (const auto& [point, name] :
         {std::pair(ExtensionPoint::kPreFilter, "PreFilter"), std::pair(ExtensionPoint::kFilter, "Filter"),
          std::pair(ExtensionPoint::kPreScore, "PreScore"), std::pair(ExtensionPoint::kScore, "Score")}) {
      SchedulerSnapshot::ProfilePlugins& p = all->emplace_back();
      p.profile = profile.scheduler_name;
      p.extension_point = name;
      for (const auto& plugin : profile.at(point)) p.plugins.push_back(plugin.name);
    }
  }
  return all;
}

template <size_t N>
void RestMetrics::Observed<N>::Observe(const std::array<double, N>& bounds, double v) {
  ++counts[static_cast<size_t>(std::lower_bound(bounds.begin(), bounds.end(), v) - bounds.begin())];
  sum += v;
}

void RestMetrics::OnExchange(std::string_view method, std::string_view host, double seconds, size_t request_bytes,
                             size_t response_bytes) {
  std::lock_guard lock(mutex_);
  Exchanges& e = exchanges_[{host, method}];
  e.seconds.Observe(kSeconds, seconds);
  e.request_bytes.Observe(kBytes, static_cast<double>(request_bytes));
  e.response_bytes.Observe(kBytes, static_cast<double>(response_bytes));
}

void RestMetrics::OnThrottle(std::string_view method, std::string_view host, double seconds) {
  std::lock_guard lock(mutex_);
  exchanges_[{host, method}].throttled.Observe(kSeconds, seconds);
}

void RestMetrics::CollectInSeconds(std::vector<MetricFamily>* out) const {
  std::lock_guard lock(mutex_);
  if (exchanges_.empty()) return;
  const auto add = [&](const char* name, const char* help, const auto& bounds, auto member) {
    MetricFamily f = Family(name, MetricType::Histogram, help);
    for (const auto& [key, e] : exchanges_) {
      const auto& observed = e.*member;
      prometheus::ClientMetric m;
      m.label = {{"host", key[0]}, {"verb", key[1]}};
      uint64_t n = 0;
      for (size_t i = 0; i <= bounds.size(); ++i) {
        n += observed.counts[i];
        m.histogram.bucket.push_back({n, i < bounds.size() ? bounds[i] : std::numeric_limits<double>::infinity()});
      }
      m.histogram.sample_count = n;
      m.histogram.sample_sum = observed.sum;
      f.metric.push_back(std::move(m));
    }
    out->push_back(std::move(f));
  };
  add("rest_client_rate_limiter_duration_seconds",
      "[ALPHA] Client side rate limiter latency in seconds. Broken down by verb, and host.", kSeconds,
      &Exchanges::throttled);
  add("rest_client_request_duration_seconds", "[ALPHA] Request latency in seconds. Broken down by verb, and host.",
      kSeconds, &Exchanges::seconds);
  add("rest_client_request_size_bytes", "[ALPHA] Request size in bytes. Broken down by verb and host.", kBytes,
      &Exchanges::request_bytes);
  add("rest_client_response_size_bytes", "[ALPHA] Response size in bytes. Broken down by verb and host.", kBytes,
      &Exchanges::response_bytes);
}

}  // namespace berth::kube_scheduler
