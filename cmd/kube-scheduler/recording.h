// Records what the scheduler receives and does (--record-dir).
#pragma once
#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <vector>

#include "cmd/kube-scheduler/component_config.h"
#include "cmd/kube-scheduler/options.h"
#include "pkg/recording/recorder.h"
#include "pkg/scheduler/factory/factory.h"

namespace prometheus {
struct MetricFamily;
}

namespace berth::kube_scheduler {

// Returns the configuration that a recording must contain, so that a replay builds the same scheduler. `profiles` are
// those that were built, with the texts of their Policies.
recording::CoreConfiguration CoreConfigurationOf(const Configuration& config, const scheduler::SchedulerGates& gates,
                                                 std::vector<recording::ProfileSource> profiles, size_t requests_limit,
                                                 bool ignore_unknown_fields);

// Opens a recording under options.record_dir. After this, decoders keep all fields that scheduling reads.
absl::StatusOr<std::unique_ptr<recording::Recorder>> StartRecording(const Options& options,
                                                                    recording::CoreConfiguration core);

// Adds the metrics scheduler_recording_*.
void CollectRecording(const recording::Recorder& recorder, std::vector<prometheus::MetricFamily>* families);

}  // namespace berth::kube_scheduler
