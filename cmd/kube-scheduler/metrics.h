// The page behind /metrics: every metric of Kubernetes 1.10's scheduler under its name, and some more.
#pragma once
#include <prometheus/metric_family.h>
#include <prometheus/summary.h>

#include <array>
#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/client/rest.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/queue/scheduling_queue.h"
#include "pkg/scheduler/scheduler.h"
#include "pkg/scheduler/scheduler_metrics.h"

namespace berth::kube_scheduler {

// What the scheduler's thread lays down now and then for others to read.
struct SchedulerSnapshot {
  scheduler::SchedulerMetrics metrics;
  scheduler::SchedulingQueue::Depth queue;
  std::array<size_t, scheduler::Scheduler::kPlaces> by_place{};
  size_t binds_in_flight = 0, requests_in_flight = 0, requests_limit = 0;
  std::vector<std::pair<std::string, int64_t>> by_reason;
  size_t nodes = 0, pods = 0, assumed = 0;
  size_t kept_answers_bytes = 0, kept_answers_limit = 0;
  uint64_t repairs = 0;
  scheduler::QueueCounts queue_counts;
  // By profile: the plugins that are called for every pod at an extension point, with 1.29's name of the point.
  struct ProfilePlugins {
    std::string profile, extension_point;
    std::vector<std::string> plugins;
  };
  std::shared_ptr<const std::vector<ProfilePlugins>> plugins;  // of release 1.29; else null
  bool release_1_29 = false;                                   // whose names the page has
};

using Algorithms = std::map<util::Symbol, std::unique_ptr<scheduler::GenericScheduler>>;  // by name of the scheduler

// Returns the numbers of now. On the scheduler's thread.
SchedulerSnapshot TakeSnapshot(const scheduler::Scheduler& scheduler, const scheduler::SchedulingQueue& queue,
                               const scheduler::Cache& cache, const Algorithms& algorithms);

// Counts requests to the API server, which the I/O threads report.
class RestMetrics final : public client::RestObserver {
 public:
  void OnAnswer(std::string_view code, std::string_view method, std::string_view host) override;
  void OnLatency(std::string_view method, std::string_view url, double seconds) override;
  void OnExchange(std::string_view method, std::string_view host, double seconds, size_t request_bytes,
                  size_t response_bytes) override;
  void OnThrottle(std::string_view method, std::string_view host, double seconds) override;
  void Collect(std::vector<prometheus::MetricFamily>* out) const;
  // Adds what release 1.29 counts beyond that, by verb and host.
  void CollectV1_29(std::vector<prometheus::MetricFamily>* out) const;

 private:
  // Kubernetes 1.29 component-base metrics/prometheus/restclient.
  static constexpr std::array<double, 12> kSeconds = {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};
  static constexpr std::array<double, 11> kBytes = {64,    256,    512,     1024,    4096,    16384,
                                                    65536, 262144, 1048576, 4194304, 16777216};
  template <size_t N>
  struct Observed {
    std::array<uint64_t, N + 1> counts{};
    double sum = 0;
    void Observe(const std::array<double, N>& bounds, double v);
  };
  struct Exchanges {
    Observed<12> seconds, throttled;
    Observed<11> request_bytes, response_bytes;
  };
  static constexpr size_t kBuckets = 10;  // 0.001 * 2^k s
  struct Latency {
    std::array<uint64_t, kBuckets + 1> counts{};
    double sum = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::array<std::string, 3>, uint64_t, std::less<>> answers_;
  std::map<std::pair<std::string, std::string>, Exchanges, std::less<>> exchanges_;  // by host and verb
  std::map<std::pair<std::string, std::string>, Latency, std::less<>> latencies_;
};

// Requests for the metrics page itself, as Prometheus' Go library counts them; from any thread. Nothing is there before
// the first.
class PageMetrics {
 public:
  PageMetrics();
  void Count(std::string_view method, double microseconds, size_t request_bytes, size_t page_bytes);
  void Collect(std::vector<prometheus::MetricFamily>* out);

 private:
  std::mutex mutex_;
  std::map<std::string, uint64_t> by_method_;                // in lower case, and "other"
  prometheus::Summary duration_, request_size_, page_size_;  // of the last 10 minutes
};

// Builds families.
prometheus::MetricFamily Family(std::string name, prometheus::MetricType type, std::string help);
void AddSample(prometheus::MetricFamily* f, std::vector<std::pair<std::string, std::string>> labels, double value);

// Adds the sample of a histogram, whose bounds and sum are divided by `unit`.
template <typename Histogram>
void AddHistogramSample(prometheus::MetricFamily* f, std::vector<std::pair<std::string, std::string>> labels,
                        const Histogram& h, double unit) {
  prometheus::ClientMetric m;
  for (auto& [name, v] : labels) m.label.push_back({std::move(name), std::move(v)});
  uint64_t n = 0;
  for (size_t i = 0; i <= Histogram::kBuckets; ++i) {
    n += h.count_in(i);
    const bool last = i == Histogram::kBuckets;
    m.histogram.bucket.push_back(
        {n, last ? std::numeric_limits<double>::infinity() : static_cast<double>(Histogram::Bound(i)) / unit});
  }
  m.histogram.sample_count = n;
  m.histogram.sample_sum = static_cast<double>(h.sum()) / unit;
  f->metric.push_back(std::move(m));
}

// Under the names of the release, and those of this program's own.
void CollectScheduler(const SchedulerSnapshot& s, std::vector<prometheus::MetricFamily>* out);
// CPU, memory, descriptors of this process, and build information.
void CollectProcess(std::vector<prometheus::MetricFamily>* out);

// Text format 0.0.4 with numbers as Go writes them, families by name, metrics by their labels.
std::string ToText(std::vector<prometheus::MetricFamily> families);

}  // namespace berth::kube_scheduler
