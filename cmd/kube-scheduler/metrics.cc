// Collects numbers and writes them as text. Numbers of the scheduler come as a snapshot that its thread publishes, so
// that a scrape never waits for a decision, and no decision for a scrape.
#include "cmd/kube-scheduler/metrics.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "cmd/kube-scheduler/build_info.h"
#include "cmd/kube-scheduler/go_text.h"
#include "cmd/kube-scheduler/metrics_by_release.h"
#include "cmd/kube-scheduler/metrics_in_seconds.h"

namespace berth::kube_scheduler {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily Family(std::string name, MetricType type, std::string help) {
  MetricFamily f;
  f.name = std::move(name);
  f.type = type;
  f.help = std::move(help);
  return f;
}

void AddSample(MetricFamily* f, std::vector<std::pair<std::string, std::string>> labels, double value) {
  ClientMetric m;
  for (auto& [name, v] : labels) m.label.push_back({std::move(name), std::move(v)});
  if (f->type == MetricType::Counter) {
    m.counter.value = value;
  } else {
    m.gauge.value = value;
  }
  f->metric.push_back(std::move(m));
}

// ---- the scheduler ------------------------------------------------------------------------------

namespace {

void AddHistogram(const char* name, const char* help, const scheduler::LatencyHistogram& h,
                  std::vector<MetricFamily>* out) {
  MetricFamily f = Family(name, MetricType::Histogram, help);
  AddHistogramSample(&f, {}, h, 1);
  out->push_back(std::move(f));
}

void AddOne(const char* name, MetricType type, const char* help, double value, std::vector<MetricFamily>* out) {
  out->push_back(Family(name, type, help));
  AddSample(&out->back(), {}, value);
}

}  // namespace

SchedulerSnapshot TakeSnapshot(const scheduler::Scheduler& scheduler, const scheduler::SchedulingQueue& queue,
                               const scheduler::Cache& cache, const Algorithms& algorithms) {
  SchedulerSnapshot s;
  s.metrics = scheduler.metrics();
  s.queue = queue.depth();
  s.queue_counts = queue.counts();
  s.by_place = scheduler.pods_by_place();
  s.binds_in_flight = scheduler.binds_in_flight();
  s.requests_in_flight = scheduler.requests_in_flight();
  const std::vector<int64_t>& by_reason = scheduler.pending_by_reason();
  for (size_t i = 0; i < by_reason.size(); ++i) {
    if (by_reason[i] != 0)
      s.by_reason.emplace_back(scheduler::FailureReasonText(static_cast<uint8_t>(i)), by_reason[i]);
  }
  s.nodes = cache.node_count();
  s.pods = cache.pod_count();
  s.assumed = cache.assumed_count();
  s.repairs = cache.repairs();
  for (const auto& [name, a] : algorithms) {
    s.kept_answers_bytes += a->kept_answers_bytes();
    s.kept_answers_limit += a->kept_answers_limit();
    if (const scheduler::BatchCounts* counts = a->batch_counts()) s.batches.emplace_back(name.string(), *counts);
  }
  return s;
}

namespace {

std::string InvalidInputName(scheduler::InvalidInput what) {
  switch (what) {
    case scheduler::InvalidInput::kPodWithoutIdentity:
      return "pod-without-identity";
    case scheduler::InvalidInput::kDuplicateUid:
      return "duplicate-uid";
    case scheduler::InvalidInput::kAnswerAboutOtherPod:
      return "answer-about-other-pod";
    case scheduler::InvalidInput::kAnswerOtherScheduler:
      return "answer-with-other-scheduler";
  }
  return "unknown";
}

// NOLINT(readability-function-size): a table of metrics.
void CollectInMicroseconds(const SchedulerSnapshot& s, std::vector<MetricFamily>* out) {
  const auto& m = s.metrics;
  constexpr MetricType kGauge = MetricType::Gauge, kCounter = MetricType::Counter;
  AddHistogram("scheduler_e2e_scheduling_latency_microseconds",
               "E2e scheduling latency (scheduling algorithm + binding)", m.e2e, out);
  AddHistogram("scheduler_scheduling_algorithm_latency_microseconds", "Scheduling algorithm latency", m.algorithm, out);
  AddHistogram("scheduler_scheduling_algorithm_predicate_evaluation",
               "Scheduling algorithm predicate evaluation duration", m.predicates, out);
  AddHistogram("scheduler_scheduling_algorithm_priority_evaluation",
               "Scheduling algorithm priority evaluation duration", m.priorities, out);
  AddHistogram("scheduler_scheduling_algorithm_preemption_evaluation",
               "Scheduling algorithm preemption evaluation duration", m.preemption, out);
  AddHistogram("scheduler_binding_latency_microseconds", "Binding latency", m.binding, out);
  AddOne("scheduler_pod_preemption_victims", kGauge, "Number of selected preemption victims",
         static_cast<double>(m.preemption_victims), out);
  AddOne("scheduler_total_preemption_attempts", kCounter, "Total preemption attempts in the cluster till now",
         static_cast<double>(m.preemption_attempts), out);

  if (!s.form.summary_of_parts.empty()) AddPartsSummary(m, s.form, out);
  if (s.form.of_equivalence_cache) AddEquivalenceCache(out);
  if (s.form.of_volume_steps) AddVolumeSteps(m.volumes, out);

  // Metrics that 1.10 does not have, under the names of later releases.
  MetricFamily attempts =
      Family("scheduler_schedule_attempts_total", kCounter,
             "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could "
             "not be scheduled, while 'error' means an internal scheduler problem.");
  AddSample(&attempts, {{"result", "error"}}, static_cast<double>(m.errors));
  AddSample(&attempts, {{"result", "scheduled"}}, static_cast<double>(m.scheduled));
  AddSample(&attempts, {{"result", "unschedulable"}}, static_cast<double>(m.unschedulable));
  out->push_back(std::move(attempts));
  MetricFamily pending = Family("scheduler_pending_pods", kGauge,
                                "Number of pending pods, by the queue they are in: active, backoff, unschedulable.");
  AddSample(&pending, {{"queue", "active"}}, static_cast<double>(s.queue.active));
  AddSample(
      &pending, {{"queue", "backoff"}},
      static_cast<double>(s.queue.backoff + s.by_place[static_cast<size_t>(scheduler::Scheduler::Place::kBackoff)]));
  AddSample(&pending, {{"queue", "unschedulable"}}, static_cast<double>(s.queue.unschedulable));
  out->push_back(std::move(pending));
}

}  // namespace

namespace {

void CollectTexts(std::vector<MetricFamily>* out) {
  constexpr MetricType kGauge = MetricType::Gauge;
  const util::SymbolStats texts = util::GetSymbolStats();
  AddOne("scheduler_interned_texts", kGauge, "Number of names, labels and other texts of objects that are kept once",
         static_cast<double>(texts.texts), out);
  AddOne("scheduler_interned_texts_bytes", kGauge, "Memory that these texts take", static_cast<double>(texts.bytes),
         out);
}

}  // namespace

namespace {

// Fields of pods that the release or the program does not know.
void AddFieldsPassedOver(const scheduler::SchedulerMetrics& m, std::vector<MetricFamily>* out) {
  MetricFamily ignored = Family("scheduler_ignored_fields_total", MetricType::Counter,
                                "Number of pods with a field that the emulated release does not understand and that "
                                "was ignored, by the field.");
  for (size_t i = 0; i < scheduler::kPodFields; ++i) {
    AddSample(&ignored, {{"field", std::string(scheduler::PodFieldPath(static_cast<scheduler::PodField>(i)))}},
              static_cast<double>(m.ignored_fields[i]));
  }
  out->push_back(std::move(ignored));
  if (!m.unknown_fields.empty()) {
    MetricFamily unknown = Family("scheduler_unknown_pod_fields_total", MetricType::Counter,
                                  "Number of pod templates with a field of the spec that is newer than this program, "
                                  "by the field.");
    for (const auto& [field, templates] : m.unknown_fields) {
      AddSample(&unknown, {{"field", field}}, static_cast<double>(templates));
    }
    out->push_back(std::move(unknown));
  }
}

}  // namespace

void CollectScheduler(const SchedulerSnapshot& s, std::vector<MetricFamily>* out) {
  const auto& m = s.metrics;
  constexpr MetricType kGauge = MetricType::Gauge, kCounter = MetricType::Counter;
  s.form.in_seconds ? CollectInSeconds(s, out) : CollectInMicroseconds(s, out);
  MetricFamily places = Family("scheduler_pods_by_state", kGauge, "Number of pending pods, by what they wait for.");
  for (size_t i = 0; i < s.by_place.size(); ++i) {
    AddSample(&places, {{"state", std::string(scheduler::PlaceName(static_cast<scheduler::Scheduler::Place>(i)))}},
              static_cast<double>(s.by_place[i]));
  }
  out->push_back(std::move(places));
  MetricFamily reasons = Family("scheduler_pending_pods_by_reason", kGauge,
                                "Number of pending pods, by the reason that decided their last failure: the one that "
                                "most of the nodes nearest to fitting gave.");
  for (const auto& [reason, n] : s.by_reason) AddSample(&reasons, {{"reason", reason}}, static_cast<double>(n));
  if (!reasons.metric.empty()) out->push_back(std::move(reasons));
  AddOne("scheduler_binds_in_flight", kGauge, "Number of bindings whose outcome is not known yet",
         static_cast<double>(s.binds_in_flight), out);
  AddOne("scheduler_requests_in_flight", kGauge, "Number of requests about pods that are not answered yet",
         static_cast<double>(s.requests_in_flight), out);
  AddOne("scheduler_requests_limit", kGauge,
         "Number of unanswered requests about pods at which no further pod is tried",
         static_cast<double>(s.requests_limit), out);
  AddOne("scheduler_checked_decisions_total", kCounter,
         "Number of decisions that were made twice, incrementally and by the reference scheduler (--check-decisions)",
         static_cast<double>(m.checked_decisions), out);
  AddOne("scheduler_decision_differences_total", kCounter,
         "Number of checked decisions that the incremental scheduler would have made differently. Should be 0.",
         static_cast<double>(m.decision_differences), out);
  AddOne("scheduler_kept_answers_bytes", kGauge, "Memory of the answers that are kept between decisions",
         static_cast<double>(s.kept_answers_bytes), out);
  AddOne("scheduler_kept_answers_limit_bytes", kGauge,
         "Memory beyond which the least recently used of them are dropped", static_cast<double>(s.kept_answers_limit),
         out);
  CollectTexts(out);
  AddOne("scheduler_pods_bound_total", kCounter, "Number of pods bound", static_cast<double>(m.bound), out);
  AddOne("scheduler_bind_failures_total", kCounter, "Number of bindings that failed",
         static_cast<double>(m.bind_failures), out);
  AddOne("scheduler_bind_outcome_unknown_total", kCounter,
         "Number of bindings without a clear answer, whose outcome had to be looked up",
         static_cast<double>(m.binds_unknown), out);
  AddOne("scheduler_expired_pods_total", kCounter,
         "Number of bound pods that the watch did not show in time and that had to be looked up",
         static_cast<double>(m.expired), out);
  AddOne("scheduler_cache_repairs_total", kCounter, "Number of pods found on another node than expected",
         static_cast<double>(s.repairs), out);
  MetricFamily invalid = Family("scheduler_invalid_objects_total", kCounter,
                                "Number of objects and answers from the API server that cannot be right and were "
                                "skipped, by what is wrong with them.");
  for (size_t i = 0; i < scheduler::kInvalidInputs; ++i) {
    AddSample(&invalid, {{"problem", InvalidInputName(static_cast<scheduler::InvalidInput>(i))}},
              static_cast<double>(m.invalid_inputs[i]));
  }
  out->push_back(std::move(invalid));
  AddFieldsPassedOver(m, out);
  MetricFamily size = Family(s.form.drops_old ? "scheduler_cache_size" : "scheduler_scheduler_cache_size", kGauge,
                             absl::StrCat(s.form.in_seconds ? "[ALPHA] " : "",
                                          "Number of nodes, pods, and assumed (bound) pods in the scheduler cache."));
  AddSample(&size, {{"type", "assumed_pods"}}, static_cast<double>(s.assumed));
  AddSample(&size, {{"type", "nodes"}}, static_cast<double>(s.nodes));
  AddSample(&size, {{"type", "pods"}}, static_cast<double>(s.pods));
  out->push_back(std::move(size));
}

// ---- requests -----------------------------------------------------------------------------------

void RestMetrics::OnAnswer(std::string_view code, std::string_view method, std::string_view host) {
  std::lock_guard lock(mutex_);
  ++answers_[{code, host, method}];
}

void RestMetrics::OnLatency(std::string_view method, std::string_view url, double seconds) {
  std::lock_guard lock(mutex_);
  Latency& l = latencies_[{url, method}];
  size_t i = 0;
  for (double bound = 0.001; i < kBuckets && seconds > bound; bound *= 2) ++i;
  ++l.counts[i];
  l.sum += seconds;
}

void RestMetrics::Collect(std::vector<MetricFamily>* out) const {
  std::lock_guard lock(mutex_);
  MetricFamily total = Family("rest_client_requests_total", MetricType::Counter,
                              "Number of HTTP requests, partitioned by status code, method, and host.");
  for (const auto& [key, n] : answers_) {
    AddSample(&total, {{"code", key[0]}, {"host", key[1]}, {"method", key[2]}}, static_cast<double>(n));
  }
  if (!total.metric.empty()) out->push_back(std::move(total));
  MetricFamily latency = Family("rest_client_request_latency_seconds", MetricType::Histogram,
                                "Request latency in seconds. Broken down by verb and URL.");
  for (const auto& [key, l] : latencies_) {
    ClientMetric m;
    m.label = {{"url", key[0]}, {"verb", key[1]}};
    uint64_t n = 0;
    double bound = 0.001;
    for (size_t i = 0; i <= kBuckets; ++i, bound *= 2) {
      n += l.counts[i];
      m.histogram.bucket.push_back({n, i == kBuckets ? std::numeric_limits<double>::infinity() : bound});
    }
    m.histogram.sample_count = n;
    m.histogram.sample_sum = l.sum;
    latency.metric.push_back(std::move(m));
  }
  if (!latency.metric.empty()) out->push_back(std::move(latency));
}

// ---- the process --------------------------------------------------------------------------------

void CollectProcess(const release::Id& release, std::vector<MetricFamily>* out) {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  AddOne("process_cpu_seconds_total", MetricType::Counter, "Total user and system CPU time spent in seconds.",
         seconds(use.ru_utime) + seconds(use.ru_stime), out);
  if (DIR* d = opendir("/proc/self/fd")) {
    int n = -1;  // the descriptor of this directory does not count
    while (const dirent* e = readdir(d)) n += e->d_name[0] != '.' ? 1 : 0;
    closedir(d);
    AddOne("process_open_fds", MetricType::Gauge, "Number of open file descriptors.", n, out);
  }
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  AddOne("process_max_fds", MetricType::Gauge, "Maximum number of open file descriptors.",
         static_cast<double>(limit.rlim_cur), out);
  rlimit space{};
  getrlimit(RLIMIT_AS, &space);
  AddOne("process_virtual_memory_max_bytes", MetricType::Gauge, "Maximum amount of virtual memory available in bytes.",
         static_cast<double>(space.rlim_cur), out);
  std::ifstream stat("/proc/self/stat");
  std::stringstream text;
  text << stat.rdbuf();
  // The name is in parentheses and may contain blanks; the fields after it do not.
  const std::string all = text.str();
  const std::vector<std::string> fields = absl::StrSplit(all.substr(std::min(all.rfind(')') + 2, all.size())), ' ');
  if (fields.size() > 21) {
    double start = 0, size = 0, pages = 0;
    (void)absl::SimpleAtod(fields[19], &start);
    (void)absl::SimpleAtod(fields[20], &size);
    (void)absl::SimpleAtod(fields[21], &pages);
    static const double kBoot = [] {
      std::ifstream in("/proc/stat");
      std::string word;
      double boot = 0;
      while (in >> word) {
        if (word == "btime") in >> boot;
      }
      return boot;
    }();
    AddOne("process_start_time_seconds", MetricType::Gauge, "Start time of the process since unix epoch in seconds.",
           kBoot + start / static_cast<double>(sysconf(_SC_CLK_TCK)), out);
    AddOne("process_virtual_memory_bytes", MetricType::Gauge, "Virtual memory size in bytes.", size, out);
    AddOne("process_resident_memory_bytes", MetricType::Gauge, "Resident memory size in bytes.",
           pages * static_cast<double>(sysconf(_SC_PAGESIZE)), out);
  }
  const BuildInfo b = GetBuildInfo(release);
  out->push_back(Family("kubernetes_build_info", MetricType::Gauge,
                        "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree "
                        "state, build date, Go version, and compiler from which Kubernetes was built, and platform on "
                        "which it is running."));
  AddSample(&out->back(),
            {{"buildDate", b.build_date},
             {"compiler", b.compiler},
             {"gitCommit", b.git_commit},
             {"gitTreeState", b.git_tree_state},
             {"gitVersion", b.git_version},
             {"goVersion", b.go_version},
             {"major", b.major},
             {"minor", b.minor},
             {"platform", b.platform}},
            1);
}

// ---- the page itself ------------------------------------------------------------------------------

namespace {

const prometheus::Summary::Quantiles kQuantiles = {{0.5, 0.05}, {0.9, 0.01}, {0.99, 0.001}};
constexpr std::chrono::minutes kRemembered{10};

}  // namespace

PageMetrics::PageMetrics()
    : duration_(kQuantiles, kRemembered), request_size_(kQuantiles, kRemembered), page_size_(kQuantiles, kRemembered) {}

void PageMetrics::Count(std::string_view method, double microseconds, size_t request_bytes, size_t page_bytes) {
  std::lock_guard lock(mutex_);
  // A client may send any method, so unknown ones are counted together.
  static constexpr std::array<std::string_view, 8> kMethods = {"GET",   "HEAD",   "POST",    "PUT",
                                                               "PATCH", "DELETE", "OPTIONS", "CONNECT"};
  const bool known = std::find(kMethods.begin(), kMethods.end(), method) != kMethods.end();
  ++by_method_[known ? absl::AsciiStrToLower(std::string(method)) : "other"];
  duration_.Observe(microseconds);
  request_size_.Observe(static_cast<double>(request_bytes));
  page_size_.Observe(static_cast<double>(page_bytes));
}

void PageMetrics::Collect(std::vector<MetricFamily>* out) {
  std::lock_guard lock(mutex_);
  if (by_method_.empty()) return;
  MetricFamily total = Family("http_requests_total", MetricType::Counter, "Total number of HTTP requests made.");
  for (const auto& [method, n] : by_method_) {
    AddSample(&total, {{"code", "200"}, {"handler", "prometheus"}, {"method", method}}, static_cast<double>(n));
  }
  out->push_back(std::move(total));
  auto add = [&](const char* name, const char* help, const prometheus::Summary& s) {
    out->push_back(Family(name, MetricType::Summary, help));
    out->back().metric.push_back(s.Collect());
    out->back().metric.back().label.push_back({"handler", "prometheus"});
  };
  add("http_request_duration_microseconds", "The HTTP request latencies in microseconds.", duration_);
  add("http_request_size_bytes", "The HTTP request sizes in bytes.", request_size_);
  add("http_response_size_bytes", "The HTTP response sizes in bytes.", page_size_);
}

// ---- text ---------------------------------------------------------------------------------------

namespace {

std::string Escape(std::string_view s, bool quotes) {
  std::string out;
  for (char c : s) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
  return out;
}

// Returns the labels of a metric, followed by one more label if `name` is given.
std::string LabelText(const ClientMetric& m, const char* name = nullptr, const std::string& value = {}) {
  std::string out;
  for (const auto& l : m.label)
    absl::StrAppend(&out, out.empty() ? "" : ",", l.name, "=\"", Escape(l.value, true), "\"");
  if (name != nullptr) absl::StrAppend(&out, out.empty() ? "" : ",", name, "=\"", value, "\"");
  return out.empty() ? out : absl::StrCat("{", out, "}");
}

}  // namespace

std::string ToText(std::vector<MetricFamily> families) {
  std::sort(families.begin(), families.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::string out;
  for (MetricFamily& f : families) {
    std::sort(f.metric.begin(), f.metric.end(),
              [](const ClientMetric& a, const ClientMetric& b) { return LabelText(a) < LabelText(b); });
    const char* type = f.type == MetricType::Counter   ? "counter"
                       : f.type == MetricType::Gauge   ? "gauge"
                       : f.type == MetricType::Summary ? "summary"
                                                       : "histogram";
    absl::StrAppend(&out, "# HELP ", f.name, " ", Escape(f.help, false), "\n# TYPE ", f.name, " ", type, "\n");
    for (const ClientMetric& m : f.metric) {
      if (f.type == MetricType::Histogram) {
        for (const auto& b : m.histogram.bucket) {
          absl::StrAppend(&out, f.name, "_bucket", LabelText(m, "le", FormatGoFloat(b.upper_bound)), " ",
                          b.cumulative_count, "\n");
        }
        absl::StrAppend(&out, f.name, "_sum", LabelText(m), " ", FormatGoFloat(m.histogram.sample_sum), "\n");
        absl::StrAppend(&out, f.name, "_count", LabelText(m), " ", m.histogram.sample_count, "\n");
      } else if (f.type == MetricType::Summary) {
        for (const auto& q : m.summary.quantile) {
          absl::StrAppend(&out, f.name, LabelText(m, "quantile", FormatGoFloat(q.quantile)), " ",
                          FormatGoFloat(q.value), "\n");
        }
        absl::StrAppend(&out, f.name, "_sum", LabelText(m), " ", FormatGoFloat(m.summary.sample_sum), "\n");
        absl::StrAppend(&out, f.name, "_count", LabelText(m), " ", m.summary.sample_count, "\n");
      } else {
        const double v = f.type == MetricType::Counter ? m.counter.value : m.gauge.value;
        absl::StrAppend(&out, f.name, LabelText(m), " ", FormatGoFloat(v), "\n");
      }
    }
  }
  return out;
}

}  // namespace berth::kube_scheduler
