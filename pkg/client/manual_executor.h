// An executor for tests. The test moves the time, and everything runs inside Run() and Advance() on the test's thread.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "pkg/client/http.h"

namespace berth::client {

class ManualExecutor final : public Executor {
 public:
  void Post(std::function<void()> f) override { posted_.push_back(std::move(f)); }
  TimerId After(absl::Duration delay, std::function<void()> f) override {
    ++last_id_;
    // The clock counts whole nanoseconds, so a fraction is rounded up; otherwise the timer would never be due.
    absl::Duration at = clock_.Steady() + absl::Ceil(std::max(delay, absl::ZeroDuration()), absl::Nanoseconds(1));
    timers_.emplace(std::pair(at, last_id_), std::move(f));
    return last_id_;
  }
  void Cancel(TimerId id) override {
    for (auto it = timers_.begin(); it != timers_.end(); ++it) {
      if (it->first.second == id) {
        timers_.erase(it);
        return;
      }
    }
  }
  const util::Clock& clock() const override { return clock_; }
  util::ManualClock& manual_clock() { return clock_; }

  // Runs everything that is posted or due, until there is nothing left.
  void Run() {
    for (;;) {
      if (!posted_.empty()) {
        auto f = std::move(posted_.front());
        posted_.pop_front();
        f();
      } else if (!timers_.empty() && timers_.begin()->first.first <= clock_.Steady()) {
        auto f = std::move(timers_.begin()->second);
        timers_.erase(timers_.begin());
        f();
      } else {
        return;
      }
    }
  }
  // Moves the time forward, and runs each timer on the way at its own time.
  void Advance(absl::Duration d) {
    Run();
    absl::Duration end = clock_.Steady() + d;
    while (!timers_.empty() && timers_.begin()->first.first <= end) {
      clock_.Advance(std::max(timers_.begin()->first.first - clock_.Steady(), absl::ZeroDuration()));
      Run();
    }
    clock_.Advance(end - clock_.Steady());
    Run();
  }
  size_t timers() const { return timers_.size(); }
  size_t posted() const { return posted_.size(); }
  // Returns the time until the next timer, or infinity if there is none.
  absl::Duration NextTimer() const {
    return timers_.empty() ? absl::InfiniteDuration() : timers_.begin()->first.first - clock_.Steady();
  }

 private:
  util::ManualClock clock_;
  std::deque<std::function<void()>> posted_;
  std::map<std::pair<absl::Duration, TimerId>, std::function<void()>> timers_;
  TimerId last_id_ = 0;
};

}  // namespace berth::client
