// What happened in the cluster while pods were being tried. A pod that is rejected must not wait for an event that came
// during its attempt (Kubernetes 1.29 internal/queue, inFlightPods and inFlightEvents).
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include <absl/container/btree_set.h>

#include "pkg/scheduler/queue/cluster_event.h"
#include "pkg/util/contract.h"

namespace berth::scheduler {

// An attempt has the number of its Pop, from 1 on. Thread-safety: none.
class EventsInFlight {
 public:
  static constexpr size_t kKinds = static_cast<size_t>(ClusterEvent::Kind::kUnschedulableTimeout) + 1;

  // `keeps`: whether events are kept themselves and not by their kinds alone.
  explicit EventsInFlight(bool keeps) : keeps_(keeps) {}

  void BeginAttempt(uint64_t cycle) { attempts_.insert(cycle); }
  // Ends an attempt. What was kept for it stays until DropOld.
  void EndAttempt(uint64_t cycle) { attempts_.erase(cycle); }
  size_t attempts() const { return attempts_.size(); }

  // Notes an event that came when `cycle` pods had been popped.
  void Note(const ClusterEvent& event, uint64_t cycle) {
    last_of_kind_[static_cast<size_t>(event.kind)] = cycle + 1;
    if (!keeps_ || attempts_.empty()) return;
    kept_.push_back({event, cycle});
    std::optional<int64_t>& of_kind = kept_of_kind_[static_cast<size_t>(event.kind)];
    of_kind = of_kind.value_or(0) + 1;
    if (kept_.size() <= kMostEvents) return;
    dropped_to_ = kept_.front().cycle;
    DropFirst();
  }

  // Returns whether f(event) is true for an event since the attempt with this number began. Of an event that was
  // dropped, only the kind is known. REQUIRES: events are kept. For attempts that had not ended at the last DropOld.
  template <typename F>
  bool AnySince(uint64_t cycle, F f) const {
    BERTH_REQUIRES(keeps_);
    for (auto kept = kept_.rbegin(); kept != kept_.rend() && kept->cycle >= cycle; ++kept) {
      if (f(kept->event)) return true;
    }
    for (size_t kind = 0; cycle <= dropped_to_ && kind < kKinds; ++kind) {
      if (last_of_kind_[kind] > cycle && f(ClusterEvent{static_cast<ClusterEvent::Kind>(kind)})) return true;
    }
    return false;
  }

  // Drops the events that came before the attempt that has been under way for the longest time.
  void DropOld() {
    while (!kept_.empty() && (attempts_.empty() || kept_.front().cycle < *attempts_.begin())) DropFirst();
  }

  // Calls f(kind, number of events kept) for each kind of which an event was ever kept.
  template <typename F>
  void ForEachKind(F f) const {
    for (size_t kind = 0; kind < kKinds; ++kind) {
      if (kept_of_kind_[kind]) f(static_cast<ClusterEvent::Kind>(kind), *kept_of_kind_[kind]);
    }
  }

 private:
  static constexpr size_t kMostEvents = 10000;
  struct Kept {
    ClusterEvent event;
    uint64_t cycle;
  };

  void DropFirst() {
    --*kept_of_kind_[static_cast<size_t>(kept_.front().event.kind)];
    kept_.pop_front();
  }

  const bool keeps_;
  absl::btree_set<uint64_t> attempts_;  // those under way
  // The events since the first of them, the newest last. The oldest are dropped when there are too many; then
  // dropped_to_ is the cycle of the last one dropped.
  std::deque<Kept> kept_;
  uint64_t dropped_to_ = 0;
  std::array<std::optional<int64_t>, kKinds> kept_of_kind_;
  std::array<uint64_t, kKinds> last_of_kind_{};  // of the last event of each kind, its cycle + 1
};

}  // namespace berth::scheduler
