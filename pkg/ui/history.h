// What the scheduler tried and how it ended, up to a fixed number of entries: the oldest are dropped.
//
// Threading: the scheduler's thread writes, any thread reads. Readers hold the lock for a few microseconds at a time,
// so that they never keep the scheduler waiting.
#pragma once
#include <absl/time/time.h>

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/scheduler_actions.h"
#include "pkg/scheduler/scheduler_metrics.h"
#include "pkg/util/clock.h"

namespace berth::ui {

class History final : public scheduler::DecisionObserver {
 public:
  // Attempts that placed a pod and attempts that did not are bounded on their own, so that neither kind displaces the
  // other. An entry takes some 200 bytes, and at most kMostMessage more.
  static constexpr size_t kMostAttempts = 16384, kMostPreemptions = 1024, kMostMessage = 1024, kMostVictims = 100;
  // An hour of rates.
  static constexpr size_t kMostRates = 360;
  static constexpr absl::Duration kRatePeriod = absl::Seconds(10);

  struct Attempt {
    absl::Time time;
    std::string pod, uid;  // pod: "namespace/name"
    util::Symbol node;     // empty: not placed
    std::string message;   // why not
    uint32_t nodes = 0, feasible = 0, ties = 0;
  };
  struct Preemption {
    absl::Time time;
    std::string pod;
    util::Symbol node;
    std::vector<std::string> victims;  // "namespace/name", at most kMostVictims
    size_t victim_count = 0;
  };
  struct Rate {
    absl::Time time;                                    // the end of the period
    uint64_t bound = 0, unschedulable = 0, errors = 0;  // in the period
    size_t pending = 0;                                 // at the end of the period
  };

  // `clock` outlives the object.
  explicit History(const util::Clock* clock) : clock_(clock) {}

  void Decided(const api::PodPtr& pod, const scheduler::Decision& decision, uint64_t round_robin) override;
  void PreemptionChosen(const api::PodPtr& pod, const scheduler::Preemption& preemption) override;
  // Notes the counters when a period is over. Call it at least once a second; between periods it does nothing.
  void Sample(const scheduler::SchedulerMetrics& metrics, size_t pending);

  // Returns the attempts at a pod, newest first, at most `limit`.
  std::vector<Attempt> AttemptsOf(std::string_view pod, size_t limit) const;
  // Newest first.
  std::vector<Preemption> Preemptions() const;
  // Returns the preemptions for a pod and those of which it was a victim, newest first.
  std::vector<Preemption> PreemptionsOf(std::string_view pod) const;
  // Oldest first.
  std::vector<Rate> Rates() const;

 private:
  // Entries in the order of their numbers, which count up from 0.
  struct Ring {
    std::deque<Attempt> entries;
    uint64_t end = 0;  // the number of the next entry
  };
  void CollectAttempts(const Ring& ring, std::string_view pod, size_t limit, std::vector<Attempt>* out) const;

  const util::Clock* clock_;
  mutable std::mutex mutex_;
  Ring placed_, failed_;
  std::deque<Preemption> preemptions_;
  std::deque<Rate> rates_;
  // Of the scheduler's thread.
  scheduler::SchedulerMetrics last_;
  absl::Duration next_sample_;
};

}  // namespace berth::ui
