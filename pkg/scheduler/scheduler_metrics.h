// Numbers the scheduler keeps about itself. Plain values on its own thread; the daemon copies them out to be served.
// Names and meaning: Kubernetes 1.10 pkg/scheduler/metrics. Durations are whole microseconds.
#pragma once
#include <absl/time/time.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "pkg/scheduler/pod_fields.h"

namespace berth::scheduler {

class LatencyHistogram {
 public:
  static constexpr size_t kBuckets = 15;  // upper bounds 1000 * 2^k us, k = 0..14; then +Inf
  void Observe(absl::Duration d) {
    const int64_t us = d / absl::Microseconds(1);
    size_t i = 0;
    while (i < kBuckets && us > (int64_t{1000} << i)) ++i;
    ++counts_[i];
    sum_ += us;
  }
  // Observations in bucket i alone, not cumulated; i == kBuckets is +Inf.
  uint64_t count_in(size_t i) const { return counts_[i]; }
  int64_t sum() const { return sum_; }
  uint64_t count() const {
    uint64_t n = 0;
    for (uint64_t c : counts_) n += c;
    return n;
  }

 private:
  std::array<uint64_t, kBuckets + 1> counts_{};
  int64_t sum_ = 0;
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
  uint64_t bound = 0;
  uint64_t bind_failures = 0;
  uint64_t binds_unknown = 0;                             // answers that were lost and had to be found out
  uint64_t expired = 0;                                   // assumed pods that were never confirmed
  std::array<uint64_t, kPodFields> ignored_fields{};      // pods with a field that was ignored, by PodField
  std::array<uint64_t, kInvalidInputs> invalid_inputs{};  // by InvalidInput
};

}  // namespace berth::scheduler
