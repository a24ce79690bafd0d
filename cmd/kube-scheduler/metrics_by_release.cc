#include "cmd/kube-scheduler/metrics_by_release.h"

#include <absl/strings/str_cat.h>

#include <array>
#include <string>
#include <utility>

#include "pkg/util/status.h"

namespace berth::kube_scheduler {

using prometheus::MetricFamily;
using prometheus::MetricType;

namespace {

constexpr double kMicros = 1e6;  // in a second

struct Part {
  const char* operation;
  const scheduler::LatencyHistogram* took;
};
std::array<Part, 4> PartsOf(const scheduler::SchedulerMetrics& m) {
  return {{{"binding", &m.binding},
           {"predicate_evaluation", &m.predicates},
           {"preemption_evaluation", &m.preemption},
           {"priority_evaluation", &m.priorities}}};
}

// Returns the help text of a metric that went soon after, which says so twice.
std::string Deprecated(const releases::MetricsForm& form, const std::string& help) {
  const std::string since = absl::StrCat("(Deprecated since ", util::ToAbsl(form.deprecated_since), ")");
  return absl::StrCat(since, " ", help, " ", since);
}

void AddUnlessEmpty(MetricFamily f, std::vector<MetricFamily>* out) {
  if (!f.metric.empty()) out->push_back(std::move(f));
}

void AddEvents(const SchedulerSnapshot& s, std::vector<MetricFamily>* out) {
  MetricFamily handled =
      Family("scheduler_event_handling_duration_seconds", MetricType::Histogram, "Event handling latency in seconds.");
  for (const auto& [event, took] : s.metrics.events) {
    AddHistogramSample(&handled, {{"event", std::string(event)}}, took, 1);
  }
  AddUnlessEmpty(std::move(handled), out);
  MetricFamily in_flight = Family("scheduler_inflight_events", MetricType::Gauge,
                                  "Number of events currently tracked in the scheduling queue.");
  for (const auto& [event, events] : s.queue_counts.in_flight) {
    AddSample(&in_flight, {{"event", std::string(event)}}, static_cast<double>(events));
  }
  AddUnlessEmpty(std::move(in_flight), out);
  MetricFamily hints = Family("scheduler_queueing_hint_execution_duration_seconds", MetricType::Histogram,
                              "Duration for running a queueing hint function of a plugin.");
  for (const auto& h : s.queue_counts.hints) {
    AddHistogramSample(
        &hints,
        {{"event", std::string(h.event)}, {"hint", h.may_help ? "Queue" : "QueueSkip"}, {"plugin", h.plugin.string()}},
        h.took, 1);
  }
  AddUnlessEmpty(std::move(hints), out);
  MetricFamily flushed = Family("scheduler_pod_scheduled_after_flush_total", MetricType::Counter,
                                "Number of pods that were successfully scheduled after being flushed from "
                                "unschedulablePods due to timeout. This metric helps detect potential queueing hint "
                                "misconfigurations or event handling issues.");
  AddSample(&flushed, {}, static_cast<double>(s.metrics.bound_after_flush));
  out->push_back(std::move(flushed));
}

void AddEvictions(const scheduler::SchedulerMetrics& m, std::vector<MetricFamily>* out) {
  MetricFamily took = Family("scheduler_preemption_goroutines_duration_seconds", MetricType::Histogram,
                             "Duration in seconds for running goroutines for the preemption.");
  MetricFamily total = Family("scheduler_preemption_goroutines_execution_total", MetricType::Counter,
                              "Number of preemption goroutines executed.");
  for (size_t i = 0; i < m.evictions.size(); ++i) {
    if (m.evictions[i].count() == 0) continue;
    const std::string result = i == 0 ? "error" : "success";
    AddHistogramSample(&took, {{"result", result}}, m.evictions[i], 1);
    AddSample(&total, {{"result", result}}, static_cast<double>(m.evictions[i].count()));
  }
  AddUnlessEmpty(std::move(took), out);
  AddUnlessEmpty(std::move(total), out);
}

void AddBatches(const SchedulerSnapshot& s, std::vector<MetricFamily>* out) {
  constexpr std::array<const char*, scheduler::kBatchAttempts> kResults = {"no_hint", "hint_used", "hint_not_used"};
  constexpr std::array<const char*, scheduler::kBatchFlushes> kReasons = {
      "pod_failed", "pod_skipped", "node_missing",     "node_not_full",
      "empty_list", "expired",     "pod_incompatible", "pod_not_batchable"};
  MetricFamily attempts = Family("scheduler_batch_attempts_total", MetricType::Counter,
                                 "Counts of results when we attempt to use batching.");
  MetricFamily flushed =
      Family("scheduler_batch_cache_flushed_total", MetricType::Counter, "Counts of cache flushes by reason.");
  MetricFamily hints =
      Family("scheduler_get_node_hint_duration_seconds", MetricType::Histogram, "Latency for getting a node hint.");
  MetricFamily stored = Family("scheduler_store_schedule_results_duration_seconds", MetricType::Histogram,
                               "Latency for getting a no.");  // as the release has it
  for (const auto& [profile, counts] : s.batches) {
    for (size_t i = 0; i < counts.attempts.size(); ++i) {
      if (counts.attempts[i] == 0) continue;
      AddSample(&attempts, {{"profile", profile}, {"result", kResults[i]}}, static_cast<double>(counts.attempts[i]));
    }
    for (size_t i = 0; i < counts.flushes.size(); ++i) {
      if (counts.flushes[i] == 0) continue;
      AddSample(&flushed, {{"profile", profile}, {"reason", kReasons[i]}}, static_cast<double>(counts.flushes[i]));
    }
    for (size_t i = 0; i < counts.hints.size(); ++i) {
      if (counts.hints[i].count() == 0) continue;
      AddHistogramSample(&hints, {{"hinted", i == 0 ? "no_hint" : "hint"}, {"profile", profile}}, counts.hints[i], 1);
    }
    if (counts.stored.count() != 0) AddHistogramSample(&stored, {{"profile", profile}}, counts.stored, 1);
  }
  for (MetricFamily* f : {&attempts, &flushed, &hints, &stored}) AddUnlessEmpty(std::move(*f), out);
}

}  // namespace

void AddPartsInSeconds(const scheduler::SchedulerMetrics& m, const releases::MetricsForm& form,
                       std::vector<MetricFamily>* out) {
  const auto add = [&](const char* name, std::string help, const scheduler::LatencyHistogram& took) {
    out->push_back(Family(name, MetricType::Histogram, std::move(help)));
    AddHistogramSample(&out->back(), {}, took, kMicros);
  };
  add("scheduler_binding_duration_seconds", "Binding latency in seconds", m.binding);
  add("scheduler_scheduling_algorithm_predicate_evaluation_seconds",
      Deprecated(form, "Scheduling algorithm predicate evaluation duration in seconds"), m.predicates);
  add("scheduler_scheduling_algorithm_preemption_evaluation_seconds",
      "Scheduling algorithm preemption evaluation duration in seconds", m.preemption);
  add("scheduler_scheduling_algorithm_priority_evaluation_seconds",
      Deprecated(form, "Scheduling algorithm priority evaluation duration in seconds"), m.priorities);
}

void AddPartsSummary(const scheduler::SchedulerMetrics& m, const releases::MetricsForm& form,
                     std::vector<MetricFamily>* out) {
  const std::string help = "Scheduling latency in seconds split by sub-parts of the scheduling operation";
  MetricFamily parts =
      Family(std::string(form.summary_of_parts), MetricType::Summary, form.of_parts ? Deprecated(form, help) : help);
  for (const auto& [operation, took] : PartsOf(m)) {
    if (took->count() == 0) continue;
    prometheus::ClientMetric sample;
    sample.label = {{"operation", operation}};
    for (const double q : {0.5, 0.9, 0.99}) {
      sample.summary.quantile.push_back({q, static_cast<double>(took->Quantile(q)) / kMicros});
    }
    sample.summary.sample_sum = static_cast<double>(took->sum()) / kMicros;
    sample.summary.sample_count = took->count();
    parts.metric.push_back(std::move(sample));
  }
  AddUnlessEmpty(std::move(parts), out);
}

void AddEquivalenceCache(std::vector<MetricFamily>* out) {
  out->push_back(Family("scheduler_equiv_cache_lookups_total", MetricType::Counter,
                        "Total number of equivalence cache lookups, by whether or not a cache entry was found"));
  for (const char* result : {"hit", "miss"}) AddSample(&out->back(), {{"result", result}}, 0);
}

void AddVolumeSteps(const scheduler::VolumeMetrics& m, std::vector<MetricFamily>* out) {
  MetricFamily requests = Family("scheduler_volume_binder_cache_requests_total", MetricType::Counter,
                                 "Total number for request volume binding cache");
  for (const auto& [operation, n] : {std::pair("add", m.reserved), {"delete", m.released}}) {
    if (n != 0) AddSample(&requests, {{"operation", operation}}, static_cast<double>(n));
  }
  AddUnlessEmpty(std::move(requests), out);
  MetricFamily took =
      Family("scheduler_volume_scheduling_duration_seconds", MetricType::Histogram, "Volume scheduling stage latency");
  MetricFamily errors = Family("scheduler_volume_scheduling_stage_error_total", MetricType::Counter,
                               "Volume scheduling stage error count");
  for (const auto& [operation, step] :
       {std::pair("assume", &m.assume), {"bind", &m.bind}, {"predicate", &m.predicate}}) {
    if (step->took.count() != 0) AddHistogramSample(&took, {{"operation", operation}}, step->took, 1);
    if (step->errors != 0) AddSample(&errors, {{"operation", operation}}, static_cast<double>(step->errors));
  }
  AddUnlessEmpty(std::move(took), out);
  AddUnlessEmpty(std::move(errors), out);
}

void AddEventMetrics(const SchedulerSnapshot& s, std::vector<MetricFamily>* out) {
  AddEvents(s, out);
  AddEvictions(s.metrics, out);
  AddBatches(s, out);
}

}  // namespace berth::kube_scheduler
