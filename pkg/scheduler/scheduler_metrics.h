// Numbers the scheduler keeps about itself. Plain values on its own thread; the daemon copies them out to be served.
// Names and meaning: Kubernetes 1.10 pkg/scheduler/metrics. Durations are whole microseconds.
#pragma once
#include <absl/time/time.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <type_traits>

#include "pkg/scheduler/pod_fields.h"

namespace berth::scheduler {

// Observations counted by bucket. Bounds: Value, the type of what is observed; kBuckets; and Bound(i), the upper bound
// of bucket i. What is above all bounds goes into a last one, +Inf.
template <typename Bounds>
class BucketCounts {
 public:
  using Value = typename Bounds::Value;
  static constexpr size_t kBuckets = Bounds::kBuckets;
  static constexpr Value Bound(size_t i) { return Bounds::Bound(i); }
  void Observe(Value value) {
    size_t i = 0;
    while (i < kBuckets && value > Bound(i)) ++i;
    ++counts_[i];
    sum_ += value;
  }
  void Observe(absl::Duration d) requires std::is_integral_v<Value> { Observe(d / absl::Microseconds(1)); }
  // Observations in bucket i alone, not cumulated; i == kBuckets is +Inf.
  uint64_t count_in(size_t i) const { return counts_[i]; }
  Value sum() const { return sum_; }
  uint64_t count() const {
    uint64_t n = 0;
    for (uint64_t c : counts_) n += c;
    return n;
  }

 private:
  std::array<uint64_t, kBuckets + 1> counts_{};
  Value sum_ = 0;
};

// Upper bounds kFirst * 2^k, k = 0..N-1.
template <int64_t kFirst, size_t N>
struct DoublingBounds {
  using Value = int64_t;
  static constexpr size_t kBuckets = N;
  static constexpr int64_t Bound(size_t i) { return kFirst << i; }
};
template <int64_t kFirst, size_t N>
using HistogramOf = BucketCounts<DoublingBounds<kFirst, N>>;

using LatencyHistogram = HistogramOf<1000, 15>;  // microseconds; to 16 s
using WaitHistogram = HistogramOf<10'000, 20>;   // microseconds; to 87 minutes
using AttemptsHistogram = HistogramOf<1, 5>;     // to 16 attempts
using VictimsHistogram = HistogramOf<1, 7>;      // to 64 victims

// How an attempt to schedule a pod ended.
enum class AttemptResult : uint8_t { kError, kScheduled, kUnschedulable };
inline constexpr size_t kAttemptResults = 3;

// A part of an attempt whose duration is observed, under the name of 1.29's extension point that stands for it.
enum class Stage : uint8_t {
  kFilter,      // finding the nodes that fit; with what 1.29 does in PreFilter
  kScore,       // choosing the best of several nodes; with what 1.29 does in PreScore
  kPostFilter,  // choosing whom to preempt
  kPreBind,     // from the first write about a volume until all claims are bound
  kBind,        // from the request until the answer is known; not when an extender binds
};
inline constexpr size_t kStages = 5;
enum class StageStatus : uint8_t { kSuccess, kUnschedulable, kError };
inline constexpr size_t kStageStatuses = 3;

using StageHistogram = HistogramOf<100, 12>;  // microseconds; to 0.2 s

// Upper bounds 10 us * 1.5^k, k = 0..19, in seconds.
struct PluginBounds {
  using Value = double;
  static constexpr size_t kBuckets = 20;
  static constexpr double Bound(size_t i) { return kBounds[i]; }
  static constexpr std::array<double, kBuckets> kBounds = [] {
    std::array<double, kBuckets> bounds{};
    double bound = 0.00001;
    for (double& b : bounds) {
      b = bound;
      bound *= 1.5;
    }
    return bounds;
  }();
};
using PluginHistogram = BucketCounts<PluginBounds>;

// What release 1.29 counts for each profile.
struct ProfileMetrics {
  // How long attempts took, by how they ended. One that placed its pod ends when the bind is answered.
  std::array<LatencyHistogram, kAttemptResults> attempts;
  std::array<std::array<StageHistogram, kStageStatuses>, kStages> stages;
  int64_t gated = 0;  // pods that wait for their scheduling gates now
};

// What can be wrong with an object or an answer from outside; it is logged, counted and skipped.
enum class InvalidInput : uint8_t {
  kPodWithoutIdentity,    // a pod without a name or a uid
  kDuplicateUid,          // a pod whose uid another pod has already
  kAnswerAboutOtherPod,   // the answer to a request about a pod shows another object, or none
  kAnswerOtherScheduler,  // the answer to a request about a pod shows a spec.schedulerName that is not ours
};
inline constexpr size_t kInvalidInputs = 4;

struct SchedulerMetrics {
  LatencyHistogram e2e;            // attempt begun .. bind answered, also when it failed
  LatencyHistogram algorithm;      // successful decisions
  LatencyHistogram predicates;     // of successful decisions
  LatencyHistogram priorities;     // of successful decisions
  LatencyHistogram preemption;     // one for each pod that did not fit
  LatencyHistogram binding;        // successful binds
  int64_t preemption_victims = 0;  // of the last preemption
  uint64_t preemption_attempts = 0;
  uint64_t scheduled = 0, unschedulable = 0, errors = 0;  // attempts by result
  std::map<std::string, ProfileMetrics, std::less<>> by_profile;
  // Of the stages that are the work of one plugin: kPostFilter, kPreBind and kBind.
  std::array<std::array<PluginHistogram, kStageStatuses>, kStages> plugins;
  AttemptsHistogram attempts_to_bind;   // of pods that were bound
  std::array<WaitHistogram, 16> waits;  // first seen .. bound, by attempts: 1, 2, ..., 16 and more
  VictimsHistogram victims;             // of preemptions that found some
  uint64_t checked_decisions = 0;       // made both ways (SchedulerOptions::check_decisions)
  uint64_t decision_differences = 0;    // of those: made differently
  uint64_t bound = 0;
  uint64_t bind_failures = 0;
  uint64_t binds_unknown = 0;                             // answers that were lost and had to be found out
  uint64_t expired = 0;                                   // assumed pods that were never confirmed
  std::array<uint64_t, kPodFields> ignored_fields{};      // pods with a field that was ignored, by PodField
  std::array<uint64_t, kInvalidInputs> invalid_inputs{};  // by InvalidInput
};

}  // namespace berth::scheduler
