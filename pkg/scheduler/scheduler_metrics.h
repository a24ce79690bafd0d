// The values behind the scheduler's metrics (Kubernetes 1.10 pkg/scheduler/metrics). Durations are in microseconds
// unless it says otherwise.
//
// Thread-safety: none. They are plain values on the scheduler's thread; the daemon copies them to serve them.
#pragma once
#include <absl/time/time.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "pkg/scheduler/pod_fields.h"
#include "pkg/util/bucket_counts.h"

namespace berth::scheduler {

using util::BucketCounts, util::HistogramOf, util::SecondsHistogram;

// Latencies in microseconds, with buckets up to 16 s for metrics and narrow ones for quantiles.
class LatencyHistogram : public HistogramOf<1000, 15> {
 public:
  void Observe(int64_t value) {
    HistogramOf<1000, 15>::Observe(value);
    ++narrow_[std::min(NarrowBucket(value), narrow_.size() - 1)];
  }
  void Observe(absl::Duration d) { Observe(d / absl::Microseconds(1)); }
  // Returns the quantile `q`, interpolated between the ends of a narrow bucket: at most an eighth away. 0 if nothing
  // was observed.
  int64_t Quantile(double q) const {
    const double wanted = q * static_cast<double>(count());
    double below = 0;
    for (size_t i = 0; i < narrow_.size(); ++i) {
      const auto here = static_cast<double>(narrow_[i]);
      if (here == 0 || below + here < wanted) {
        below += here;
        continue;
      }
      const auto begin = static_cast<double>(BeginOf(i)), end = static_cast<double>(BeginOf(i + 1));
      return static_cast<int64_t>(begin + (end - begin) * (wanted - below) / here);
    }
    return 0;
  }

 private:
  // Each power of two has eight buckets; values below eight have one each.
  static size_t NarrowBucket(int64_t value) {
    if (value < 8) return static_cast<size_t>(std::max<int64_t>(value, 0));
    const int octave = std::bit_width(static_cast<uint64_t>(value)) - 4;
    return 8 * static_cast<size_t>(octave) + static_cast<size_t>(value >> octave);
  }
  static int64_t BeginOf(size_t bucket) {
    if (bucket < 8) return static_cast<int64_t>(bucket);
    return static_cast<int64_t>(8 + bucket % 8) << (bucket / 8 - 1);
  }
  std::array<uint64_t, 8 * 25> narrow_{};  // up to 128 s
};
using WaitHistogram = HistogramOf<10'000, 20>;  // microseconds, up to 87 minutes
using AttemptsHistogram = HistogramOf<1, 5>;    // up to 16 attempts
// The upper bounds 5, 10, ... 50.
struct Fives {
  using Value = int64_t;
  static constexpr size_t kBuckets = 10;
  static constexpr int64_t Bound(size_t i) { return 5 * (static_cast<int64_t>(i) + 1); }
};
using FivesHistogram = BucketCounts<Fives>;
using VictimsHistogram = HistogramOf<1, 7>;  // up to 64 victims

// How an attempt to schedule a pod ended.
enum class AttemptResult : uint8_t { kError, kScheduled, kUnschedulable };
inline constexpr size_t kAttemptResults = 3;

// A part of an attempt whose duration is measured, named after the extension point of 1.29.
enum class Stage : uint8_t {
  kFilter,      // finding the nodes that fit; includes PreFilter
  kScore,       // choosing the best of several nodes; includes PreScore
  kPostFilter,  // choosing the victims of a preemption
  kPreBind,     // from the first write of a volume or claim until all claims are bound
  kBind,        // from the request until its outcome is known; not measured when an extender binds
};
inline constexpr size_t kStages = 5;
enum class StageStatus : uint8_t { kSuccess, kUnschedulable, kError };
inline constexpr size_t kStageStatuses = 3;

using StageHistogram = HistogramOf<100, 12>;  // microseconds, up to 0.2 s

using PluginHistogram = SecondsHistogram<10, 15, 20>;       // up to 22 ms
using EventHistogram = SecondsHistogram<100, 20, 12>;       // up to 0.2 s
using EvictionHistogram = SecondsHistogram<10000, 20, 20>;  // up to 87 minutes

// The steps of volume binding as 1.13 measures them, whose buckets begin at 1000 although they count seconds.
using VolumeStepHistogram = SecondsHistogram<1'000'000'000, 20, 15>;
struct VolumeStepMetrics {
  VolumeStepHistogram took;
  uint64_t errors = 0;
};
struct VolumeMetrics {
  VolumeStepMetrics predicate;          // an attempt's search for nodes, in which volumes are looked for, too
  VolumeStepMetrics assume;             // reserving them on the node that was chosen
  VolumeStepMetrics bind;               // from the first write until all claims are bound
  uint64_t reserved = 0, released = 0;  // pods whose volumes were reserved, and those that need that no longer
};

// The metrics of release 1.29 that exist for each profile.
struct ProfileMetrics {
  // The durations of attempts by result. A successful attempt ends when the bind is answered.
  std::array<LatencyHistogram, kAttemptResults> attempts;
  std::array<std::array<StageHistogram, kStageStatuses>, kStages> stages;  // durations by Stage and StageStatus
  int64_t gated = 0;  // number of pods that have scheduling gates now
};

// What is wrong with an object or an answer from outside, which is then logged, counted and ignored.
enum class InvalidInput : uint8_t {
  kPodWithoutIdentity,    // a pod without a name or a uid
  kDuplicateUid,          // a pod with the uid of another pod
  kAnswerAboutOtherPod,   // the answer to a request about a pod has another object or none
  kAnswerOtherScheduler,  // the answer to a request about a pod has the spec.schedulerName of another scheduler
};
inline constexpr size_t kInvalidInputs = 4;
inline constexpr size_t kMostUnknownFields = 100;

struct SchedulerMetrics {
  LatencyHistogram e2e;            // from the beginning of an attempt until its bind succeeds or fails
  LatencyHistogram algorithm;      // decisions that found a node
  LatencyHistogram predicates;     // filtering in decisions that found a node
  LatencyHistogram priorities;     // scoring in decisions that found a node
  LatencyHistogram preemption;     // choosing the victims
  LatencyHistogram binding;        // binds that succeeded
  int64_t preemption_victims = 0;  // number of victims of the last preemption
  uint64_t preemption_attempts = 0;
  uint64_t scheduled = 0, unschedulable = 0, errors = 0;  // number of attempts by result
  std::map<std::string, ProfileMetrics, std::less<>> by_profile;
  // Durations of the stages that one plugin makes up: kPostFilter, kPreBind and kBind. By Stage and StageStatus.
  std::array<std::array<PluginHistogram, kStageStatuses>, kStages> plugins;
  VolumeMetrics volumes;
  AttemptsHistogram attempts_to_bind;   // number of attempts of pods that were bound
  std::array<WaitHistogram, 16> waits;  // from first seen to bound, for pods with 1, 2, ..., 16 or more attempts
  VictimsHistogram victims;             // number of victims of preemptions that found any
  FivesHistogram victims_by_five;       // the same, in the buckets of 1.19
  // What is measured with Process::measures_events: how long changes of the cluster took, by their label; how long the
  // victims of a preemption were evicted for, when that failed and when it did not; and the pods bound that no event
  // had made ready, but the limit of the time that they wait for one.
  std::map<std::string_view, EventHistogram> events;
  std::array<EvictionHistogram, 2> evictions;  // [0] failed, [1] succeeded
  uint64_t bound_after_flush = 0;
  uint64_t checked_decisions = 0;     // decisions made both ways (SchedulerOptions::check_decisions)
  uint64_t decision_differences = 0;  // checked decisions that differed
  uint64_t bound = 0;
  uint64_t bind_failures = 0;
  uint64_t binds_unknown = 0;                         // binds after which the pod was read to find out the outcome
  uint64_t expired = 0;                               // assumed pods that were not confirmed in time
  std::array<uint64_t, kPodFields> ignored_fields{};  // pods with a field that was ignored, by PodField
  // Pod templates with a field that is newer than this program, by its path; at most kMostUnknownFields paths and then
  // "others".
  std::map<std::string, uint64_t, std::less<>> unknown_fields;
  std::array<uint64_t, kInvalidInputs> invalid_inputs{};  // by InvalidInput
  void CountInvalid(InvalidInput what) { ++invalid_inputs[static_cast<size_t>(what)]; }
};

}  // namespace berth::scheduler
