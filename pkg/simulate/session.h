// The scheduler of a simulation: what it is shown, what it is asked to decide, and the recording of both.
#pragma once
#include <absl/status/status.h>

#include <memory>
#include <string>

#include "pkg/recording/core.h"
#include "pkg/recording/recorder.h"
#include "pkg/recording/tap.h"
#include "pkg/simulate/endless_evictions.h"
#include "pkg/simulate/simulate.h"
#include "pkg/simulate/timeline.h"

namespace berth::simulate {

class Session {
 public:
  // All arguments must outlive the object.
  Session(const Options& options, const Timeline* timeline);
  ~Session();

  // Builds the scheduler, whose requests and decisions these get. Nothing else may be called before.
  absl::Status Start(scheduler::Actions* actions, scheduler::DecisionObserver* observer);
  // Shows an object: null before it is there, and after it is gone.
  template <typename T>
  void Show(const std::shared_ptr<const T>& before, const std::shared_ptr<const T>& after) {
    const scheduler::Change<T> change{before, after};
    if (tap_ != nullptr) {
      tap_->Apply(change);
    } else {
      scheduler_->Apply(change);
    }
  }
  void Reply(const scheduler::Reply& reply);
  // Lets the scheduler decide about all pods that are ready, or until the simulation is cut.
  void Decide();
  // Waits while the recording is far behind.
  void Throttle() const;
  absl::Status Finish();

  // Changes of the cluster after which a pod that waits may be tried with another result.
  int64_t changes() const { return changes_; }
  void Changed() { ++changes_, tried_ = 0; }
  // Notes that a pod was tried without success since the last change, once a pod.
  void NoteTried() { ++tried_; }
  // Whether each pod that waits was tried since the last change, but for those that nobody tries.
  bool HasTriedAll() const;
  // Returns when the scheduler has something to do, later than now; kNever: it waits for changes.
  Micros NextTime() const;
  // The evictions for more important pods.
  EndlessEvictions& evictions() { return evictions_; }
  // Returns whether pods evict one another forever, and nobody has said when to end. Finish returns the error.
  bool EvictsForEver();
  bool IsCut() const { return options_.cut != nullptr && options_.cut->load(std::memory_order_relaxed); }

  // Prepares which of several best nodes the next decision takes.
  void BreakNextTie();
  scheduler::Cache& cache() { return core_->cache; }
  const scheduler::Cache& cache() const { return core_->cache; }
  // Says why a pod waits that was never tried.
  std::string WhyNotTried(const api::Pod& pod) const;

 private:
  absl::Status StartRecording(scheduler::Actions* actions, scheduler::DecisionObserver* observer);

  const Options& options_;
  const Timeline* const timeline_;
  lab::TieBreaker ties_;
  std::unique_ptr<recording::Recorder> recorder_;
  std::unique_ptr<recording::Tap> tap_;  // null without a recording
  std::unique_ptr<recording::Core> core_;
  scheduler::Scheduler* scheduler_ = nullptr;
  EndlessEvictions evictions_;
  int64_t changes_ = 0, tried_ = 0, decided_ = 0;
};

}  // namespace berth::simulate
