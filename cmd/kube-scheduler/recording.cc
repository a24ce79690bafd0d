// Turns the daemon's configuration into that of a recording, and shows the recorder's counters as metrics.
#include "cmd/kube-scheduler/recording.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <glog/logging.h>
#include <unistd.h>

#include <random>

#include "cmd/kube-scheduler/metrics.h"
#include "pkg/api/scheduling_fields.h"
#include "pkg/util/version.h"

namespace berth::kube_scheduler {

recording::CoreConfiguration CoreConfigurationOf(const Configuration& config, const scheduler::SchedulerGates& gates,
                                                 std::vector<recording::ProfileSource> profiles, size_t requests_limit,
                                                 bool ignore_unknown_fields) {
  recording::CoreConfiguration c;
  c.release = std::string(config.release->name);
  c.ignore_unknown_fields = ignore_unknown_fields;
  const scheduler::AlgorithmGates& a = gates.algorithm;
  c.gates = {{"PodPriority", a.pod_priority},
             {"VolumeScheduling", a.volume_scheduling},
             {"BlockVolume", a.block_volume},
             {"StorageObjectInUseProtection", a.storage_object_in_use_protection},
             {"TaintNodesByCondition", gates.taint_nodes_by_condition},
             {"ResourceLimitsPriorityFunction", gates.resource_limits_priority_function}};
  if (a.attach_volume_limit) c.gates["AttachVolumeLimit"] = true;
  if (a.balance_attached_node_volumes) c.gates["BalanceAttachedNodeVolumes"] = true;
  if (config.ByProfiles()) {
    const scheduler::configuration::Gates& g = config.plugin_profiles[0].gates;
    const scheduler::configuration::Gates otherwise;
    const auto note = [&](const char* name, bool on, bool by_default) {
      if (on != by_default) c.gates[name] = on;
    };
    note("StorageCapacityScoring", g.storage_capacity_scoring, otherwise.storage_capacity_scoring);
    note("VolumeLimitScaling", g.volume_limit_scaling, otherwise.volume_limit_scaling);
    note("TaintTolerationComparisonOperators", g.taint_comparison_operators, otherwise.taint_comparison_operators);
    note("OpportunisticBatching", g.opportunistic_batching, otherwise.opportunistic_batching);
  }
  c.profiles = std::move(profiles);
  c.hard_pod_affinity_symmetric_weight = config.hard_pod_affinity_symmetric_weight;
  c.initial_backoff = config.pod_initial_backoff;
  c.max_backoff = config.pod_max_backoff;
  c.unschedulable_limit = config.pod_max_in_unschedulable;
  c.max_requests_in_flight = static_cast<int64_t>(requests_limit);
  return c;
}

absl::StatusOr<std::unique_ptr<recording::Recorder>> StartRecording(const Options& options,
                                                                    recording::CoreConfiguration core) {
  recording::RecorderOptions o;
  o.dir = options.record_dir;
  o.max_bytes = options.record_max_bytes;
  recording::Header h;
  h.version = absl::StrCat(std::string(util::Version()), " ", std::string(util::Commit()));
  std::random_device random;
  h.run = absl::StrFormat("%08x%08x", random(), random());
  h.configuration = std::move(core);
  for (const flags::Flag& f : options.flags().all()) {
    if (options.flags().Changed(f.name)) h.flags.emplace_back(f.name, f.text());
  }
  auto recorder = recording::Recorder::Open(std::move(o), std::move(h));
  if (!recorder.ok()) {
    return absl::Status(recorder.status().code(), absl::StrCat("--record-dir: ", recorder.status().message()));
  }
  api::KeepSchedulingFields();
  LOG(INFO) << "Recording to " << options.record_dir << ", " << options.record_max_bytes << " bytes at most";
  return recorder;
}

void CollectRecording(const recording::Recorder& recorder, std::vector<prometheus::MetricFamily>* families) {
  using prometheus::MetricType;
  const recording::Recorder::Stats s = recorder.stats();
  const auto one = [&](const char* name, MetricType type, const char* help, double v) {
    families->push_back(Family(name, type, help));
    AddSample(&families->back(), {}, v);
  };
  one("scheduler_recording_events_total", MetricType::Counter,
      "Number of inputs and outputs of the scheduler that were to be recorded.", static_cast<double>(s.events));
  one("scheduler_recording_lost_events_total", MetricType::Counter,
      "Number of inputs and outputs that are missing from the recording.", static_cast<double>(s.lost));
  one("scheduler_recording_bytes_total", MetricType::Counter, "Number of bytes written to the recording.",
      static_cast<double>(s.bytes));
  one("scheduler_recording_errors_total", MetricType::Counter, "Number of writes of the recording that failed.",
      static_cast<double>(s.errors));
  one("scheduler_recording_buffered_events", MetricType::Gauge, "Number of events that wait to be written.",
      static_cast<double>(s.buffered));
}

}  // namespace berth::kube_scheduler
