// The scheduler's recent attempts and their results, up to a fixed number of entries; the oldest are dropped.
//
// Thread-safety: only the scheduler's thread writes; any thread may read. Readers hold the lock for a few microseconds
// at a time, so that they do not make the scheduler wait.
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
  // Attempts that placed a pod and attempts that failed are limited separately, so that neither displaces the other. An
  // entry takes about 200 bytes, plus at most kMostMessage.
  static constexpr size_t kMostAttempts = 16384, kMostPreemptions = 1024, kMostMessage = 1024, kMostVictims = 100;
  // One hour of rates.
  static constexpr size_t kMostRates = 360;
  static constexpr absl::Duration kRatePeriod = absl::Seconds(10);

  struct Attempt {
    absl::Time time;
    std::string pod, uid;     // pod: "namespace/name"
    util::SharedSymbol node;  // empty: the pod was not placed
    std::string message;      // why it was not placed
    uint32_t nodes = 0, feasible = 0, ties = 0;
  };
  struct Preemption {
    absl::Time time;
    std::string pod;
    util::SharedSymbol node;
    std::vector<std::string> victims;  // "namespace/name", at most kMostVictims
    size_t victim_count = 0;
  };
  struct Rate {
    absl::Time time;                                    // the end of the period
    uint64_t bound = 0, unschedulable = 0, errors = 0;  // in the period
    size_t pending = 0;                                 // at the end of the period
  };

  // `clock` must outlive the object.
  explicit History(const util::Clock* clock) : clock_(clock) {}

  void Decided(const api::PodPtr& pod, const scheduler::Decision& decision, uint64_t round_robin) override;
  void PreemptionChosen(const api::PodPtr& pod, const scheduler::Preemption& preemption) override;
  // Records the counters if a period has ended, and otherwise does nothing. Call it at least once a second.
  void Sample(const scheduler::SchedulerMetrics& metrics, size_t pending);

  // Returns the latest attempts to schedule a pod, newest first, at most `limit`.
  std::vector<Attempt> AttemptsOf(std::string_view pod, size_t limit) const;
  // Returns all preemptions, newest first.
  std::vector<Preemption> Preemptions() const;
  // Returns the preemptions for a pod and those in which it was a victim, newest first.
  std::vector<Preemption> PreemptionsOf(std::string_view pod) const;
  // Returns the rates, oldest first.
  std::vector<Rate> Rates() const;

 private:
  // Entries in the order of their numbers, which start at 0. Invariant: the numbers of the entries are the
  // entries.size() numbers before `end`.
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
  // The members below are used on the scheduler's thread only.
  Rate last_;  // the counters at the last sample, from the start of the process
  absl::Duration next_sample_;
};

}  // namespace berth::ui
