// What will happen in a simulation, in the order of its time, then of its being planned.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <vector>

#include "pkg/simulate/virtual_clock.h"

namespace berth::simulate {

// Identifies a pod of a table whose slots are used again.
struct PodHandle {
  uint32_t slot = 0, generation = 0;
};

// Thread-safety: as a standard container.
class Timeline {
 public:
  const VirtualClock& clock() const { return clock_; }
  Micros now() const { return clock_.now(); }
  void AdvanceTo(Micros now) { clock_.Set(now); }

  // Says who is told that a pod ends; see EndAfter.
  void OnEnd(std::function<void(PodHandle)> ends) { ends_ = std::move(ends); }
  void EndAfter(Micros delay, PodHandle pod) { events_.push({Plus(now(), delay), ++last_event_, pod, 0}); }
  // Calls `what` after the delay; without a delay, at the present time after what was planned for it before.
  void After(Micros delay, std::function<void()> what);
  // The same for what only tries again, and which does not keep a simulation from its end. REQUIRES: delay is not 0.
  void TryAfter(Micros delay, std::function<void()> what);

  // Lets happen what is due, but for what was planned without a delay.
  void RunDue();
  // Lets happen what was planned without a delay, and what that plans.
  void RunSoon();
  bool HasSoon() const { return !soon_.empty(); }
  // Whether nothing is planned but tries.
  bool OnlyTries() const { return soon_.empty() && events_.size() <= tries_; }
  // When something happens next, not counting what was planned without a delay; kNever: nothing is planned.
  Micros Next() const { return events_.empty() ? kNever : events_.top().at; }

 private:
  struct Event {
    Micros at;
    uint64_t number;
    PodHandle pod;  // which ends; without `call`
    uint32_t call;  // index + 1 in calls_; 0: the end of a pod
    bool operator>(const Event& o) const { return at != o.at ? at > o.at : number > o.number; }
  };

  VirtualClock clock_;
  std::function<void(PodHandle)> ends_;
  std::deque<std::function<void()>> soon_;  // at the present time, in this order
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<std::function<void()>> calls_;
  std::vector<uint32_t> free_calls_;
  uint64_t last_event_ = 0;
  size_t tries_ = 0;  // of the events
};

}  // namespace berth::simulate
