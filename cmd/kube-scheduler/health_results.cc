// Source: staging/src/k8s.io/component-base/metrics/prometheus/slis (1.29).
#include "cmd/kube-scheduler/health_results.h"

#include "cmd/kube-scheduler/metrics.h"

namespace berth::kube_scheduler {

using prometheus::MetricType;

std::vector<HealthCheck> HealthResults::Noting(const std::string& page_name, std::vector<HealthCheck> checks) {
  for (HealthCheck& check : checks) {
    check.run = [this, key = std::pair(check.name, page_name), run = std::move(check.run)] {
      absl::Status status = run();
      const std::lock_guard lock(mutex_);
      Counted& counted = by_check_[key];
      counted.is_well = status.ok();
      ++(status.ok() ? counted.well : counted.bad);
      return status;
    };
  }
  return checks;
}

std::string HealthResults::Text(double began) const {
  std::vector<prometheus::MetricFamily> families;
  prometheus::MetricFamily last = Family("kubernetes_healthcheck", MetricType::Gauge,
                                         "[STABLE] This metric records the result of a single healthcheck.");
  prometheus::MetricFamily total = Family("kubernetes_healthchecks_total", MetricType::Counter,
                                          "[STABLE] This metric records the results of all healthcheck.");
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, counted] : by_check_) {
      const auto& [name, type] = key;
      AddSample(&last, {{"name", name}, {"type", type}}, counted.is_well ? 1 : 0);
      for (const auto& [status, times] : {std::pair("error", counted.bad), std::pair("success", counted.well)}) {
        if (times == 0) continue;
        AddSample(&total, {{"name", name}, {"status", status}, {"type", type}}, static_cast<double>(times));
      }
    }
  }
  for (auto* f : {&last, &total}) {
    if (!f->metric.empty()) families.push_back(std::move(*f));
  }
  families.push_back(Family("process_start_time_seconds", MetricType::Gauge,
                            "[ALPHA] Start time of the process since unix epoch in seconds."));
  AddSample(&families.back(), {}, began);
  return ToText(std::move(families));
}

}  // namespace berth::kube_scheduler
