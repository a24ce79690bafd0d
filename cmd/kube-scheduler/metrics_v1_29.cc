#include "cmd/kube-scheduler/metrics_v1_29.h"

#include <absl/strings/str_cat.h>

#include <array>

namespace berth::kube_scheduler {

using prometheus::MetricFamily;
using prometheus::MetricType;
using scheduler::Scheduler;

namespace {

constexpr double kMicrosInSecond = 1e6;
constexpr std::array<const char*, scheduler::kAttemptResults> kResults = {"error", "scheduled", "unschedulable"};

void AddAttempts(const scheduler::SchedulerMetrics& m, std::vector<MetricFamily>* out) {
  MetricFamily total = Family("scheduler_schedule_attempts_total", MetricType::Counter,
                              "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could "
                              "not be scheduled, while 'error' means an internal scheduler problem.");
  MetricFamily took = Family("scheduler_scheduling_attempt_duration_seconds", MetricType::Histogram,
                             "Scheduling attempt latency in seconds (scheduling algorithm + binding)");
  for (const auto& [profile, attempts] : m.by_profile) {
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

void AddWaits(const scheduler::SchedulerMetrics& m, std::vector<MetricFamily>* out) {
  MetricFamily attempts = Family("scheduler_pod_scheduling_attempts", MetricType::Histogram,
                                 "Number of attempts to successfully schedule a pod.");
  AddHistogramSample(&attempts, {}, m.attempts_to_bind, 1);
  out->push_back(std::move(attempts));
  MetricFamily sli = Family("scheduler_pod_scheduling_sli_duration_seconds", MetricType::Histogram,
                            "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue "
                            "and might involve multiple scheduling attempts.");
  MetricFamily duration = Family("scheduler_pod_scheduling_duration_seconds", MetricType::Histogram,
                                 "(Deprecated since 1.29.0) E2e latency for a pod being scheduled which may include "
                                 "multiple scheduling attempts.");
  for (size_t i = 0; i < m.waits.size(); ++i) {
    if (m.waits[i].count() == 0) continue;
    const std::string label = i + 1 == m.waits.size() ? absl::StrCat(i + 1, "+") : absl::StrCat(i + 1);
    AddHistogramSample(&sli, {{"attempts", label}}, m.waits[i], kMicrosInSecond);
    AddHistogramSample(&duration, {{"attempts", label}}, m.waits[i], kMicrosInSecond);
  }
  if (sli.metric.empty()) return;
  out->push_back(std::move(duration));
  out->push_back(std::move(sli));
}

void AddCacheSize(const SchedulerSnapshot& s, std::vector<MetricFamily>* out) {
  MetricFamily size = Family("scheduler_scheduler_cache_size", MetricType::Gauge,
                             "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.");
  AddSample(&size, {{"type", "assumed_pods"}}, static_cast<double>(s.assumed));
  AddSample(&size, {{"type", "nodes"}}, static_cast<double>(s.nodes));
  AddSample(&size, {{"type", "pods"}}, static_cast<double>(s.pods));
  out->push_back(std::move(size));
}

}  // namespace

void CollectV1_29(const SchedulerSnapshot& s, std::vector<MetricFamily>* out) {
  const auto& m = s.metrics;
  AddAttempts(m, out);
  AddWaits(m, out);
  MetricFamily algorithm = Family("scheduler_scheduling_algorithm_duration_seconds", MetricType::Histogram,
                                  "Scheduling algorithm latency in seconds");
  AddHistogramSample(&algorithm, {}, m.algorithm, kMicrosInSecond);
  out->push_back(std::move(algorithm));
  MetricFamily victims =
      Family("scheduler_preemption_victims", MetricType::Histogram, "Number of selected preemption victims");
  AddHistogramSample(&victims, {}, m.victims, 1);
  out->push_back(std::move(victims));
  MetricFamily preemptions = Family("scheduler_preemption_attempts_total", MetricType::Counter,
                                    "Total preemption attempts in the cluster till now");
  AddSample(&preemptions, {}, static_cast<double>(m.preemption_attempts));
  out->push_back(std::move(preemptions));
  MetricFamily pending = Family("scheduler_pending_pods", MetricType::Gauge,
                                "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; "
                                "'backoff' means number of pods in backoffQ; 'unschedulable' means number of pods in "
                                "unschedulablePods that the scheduler attempted to schedule and failed; 'gated' is the "
                                "number of unschedulable pods that the scheduler never attempted to schedule because "
                                "they are gated.");
  AddSample(&pending, {{"queue", "active"}}, static_cast<double>(s.queue.active));
  AddSample(&pending, {{"queue", "backoff"}}, static_cast<double>(s.queue.backoff));
  AddSample(&pending, {{"queue", "gated"}},
            static_cast<double>(s.by_place[static_cast<size_t>(Scheduler::Place::kGated)]));
  AddSample(&pending, {{"queue", "unschedulable"}}, static_cast<double>(s.queue.unschedulable));
  out->push_back(std::move(pending));
  AddCacheSize(s, out);
}

}  // namespace berth::kube_scheduler
