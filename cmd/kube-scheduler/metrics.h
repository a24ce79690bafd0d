// The page /metrics: every metric of Kubernetes 1.10's scheduler under its name, and some more.
#pragma once
#include <prometheus/metric_family.h>
#include <prometheus/summary.h>

#include <algorithm>
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
#include "pkg/release/release.h"
#include "pkg/releases/daemon_form.h"
#include "pkg/scheduler/core/batch.h"
#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/queue/scheduling_queue.h"
#include "pkg/scheduler/scheduler.h"
#include "pkg/scheduler/scheduler_metrics.h"

namespace berth::kube_scheduler {

// Numbers for threads that do not hold the round, taken when they are asked for.
struct SchedulerSnapshot {
  scheduler::SchedulerMetrics metrics;
  scheduler::SchedulingQueue::Depth queue;
  std::array<size_t, scheduler::kPendingPlaces> by_place{};
  size_t binds_in_flight = 0, requests_in_flight = 0, requests_limit = 0;
  std::vector<std::pair<std::string, int64_t>> by_reason;
  size_t nodes = 0, pods = 0, assumed = 0;
  size_t kept_answers_bytes = 0, kept_answers_limit = 0;
  uint64_t repairs = 0;
  scheduler::QueueCounts queue_counts;
  // The plugins of a profile that are called for every pod at an extension point, with 1.29's name of the point.
  struct ProfilePlugins {
    std::string profile, extension_point;
    std::vector<std::string> plugins;
  };
  std::shared_ptr<const std::vector<ProfilePlugins>> plugins;  // null in release 1.10
  // What became of attempts to place pods in batches, by profile, where the release counts that.
  std::vector<std::pair<std::string, scheduler::BatchCounts>> batches;
  releases::MetricsForm form;  // of the release
};

using Algorithms = std::map<util::Symbol, std::unique_ptr<scheduler::GenericScheduler>>;  // by scheduler name

// Returns the current numbers. To be called in a round.
SchedulerSnapshot TakeSnapshot(const scheduler::Scheduler& scheduler, const scheduler::SchedulingQueue& queue,
                               const scheduler::Cache& cache, const Algorithms& algorithms);

// Counts requests to the API server. Thread-safety: thread-safe; the I/O threads report requests.
class RestMetrics final : public client::RestObserver {
 public:
  void OnAnswer(std::string_view code, std::string_view method, std::string_view host) override;
  void OnLatency(std::string_view method, std::string_view url, double seconds) override;
  void OnExchange(std::string_view method, std::string_view host, double seconds, size_t request_bytes,
                  size_t response_bytes) override;
  void OnThrottle(std::string_view method, std::string_view host, double seconds) override;
  void Collect(std::vector<prometheus::MetricFamily>* out) const;
  // Adds the further metrics of release 1.29, by verb and host.
  void CollectInSeconds(std::vector<prometheus::MetricFamily>* out) const;

 private:
  // The buckets of Kubernetes 1.29 (component-base metrics/prometheus/restclient).
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
  // By N texts. Entries are found without making strings, because each request comes here several times.
  template <size_t N, typename V>
  class Table {
   public:
    V& operator[](const std::array<std::string_view, N>& key) {
      if (last_ != nullptr && std::equal(key.begin(), key.end(), last_->first.begin())) return last_->second;
      auto found = entries_.find(key);
      if (found == entries_.end()) {
        std::array<std::string, N> kept;
        std::copy(key.begin(), key.end(), kept.begin());
        found = entries_.try_emplace(std::move(kept)).first;
      }
      last_ = &*found;
      return found->second;
    }
    bool empty() const { return entries_.empty(); }
    auto begin() const { return entries_.begin(); }
    auto end() const { return entries_.end(); }

   private:
    struct Less {
      using is_transparent = void;
      template <typename A, typename B>
      bool operator()(const A& a, const B& b) const {
        return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
      }
    };
    using Entries = std::map<std::array<std::string, N>, V, Less>;
    Entries entries_;
    typename Entries::value_type* last_ = nullptr;  // the entry found last, which is often the next one too
  };
  mutable std::mutex mutex_;
  Table<3, uint64_t> answers_;     // by code, host and verb
  Table<2, Exchanges> exchanges_;  // by host and verb
  Table<2, Latency> latencies_;    // by URL and verb
};

// Counts requests for the metrics page, as Prometheus' Go library does. There are no metrics before the first request.
// Thread-safety: thread-safe.
class PageMetrics {
 public:
  PageMetrics();
  void Count(std::string_view method, double microseconds, size_t request_bytes, size_t page_bytes);
  void Collect(std::vector<prometheus::MetricFamily>* out);

 private:
  std::mutex mutex_;
  std::map<std::string, uint64_t> by_method_;                // in lower case; unknown methods as "other"
  prometheus::Summary duration_, request_size_, page_size_;  // over the last 10 minutes
};

// Family makes an empty family; AddSample adds a sample to one.
prometheus::MetricFamily Family(std::string name, prometheus::MetricType type, std::string help);
void AddSample(prometheus::MetricFamily* f, std::vector<std::pair<std::string, std::string>> labels, double value);

// Adds a histogram as a sample. Its bounds and sum are divided by `unit`.
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

// Adds the scheduler's metrics under the names of the release, and this program's own.
void CollectScheduler(const SchedulerSnapshot& s, std::vector<prometheus::MetricFamily>* out);
// Adds CPU, memory and file descriptors of this process, and build information.
void CollectProcess(const release::Id& release, std::vector<prometheus::MetricFamily>* out);

// Returns the families in text format 0.0.4, with numbers as Go writes them, families sorted by name and metrics by
// labels.
std::string ToText(std::vector<prometheus::MetricFamily> families);

}  // namespace berth::kube_scheduler
