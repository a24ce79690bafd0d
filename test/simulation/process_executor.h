// The event loop as one simulated process sees it: with a clock that drifts, and that stands still for the process
// while it is stopped (SIGSTOP, a frozen virtual machine). What a killed process still had to do never happens.
#pragma once
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "pkg/http/executor.h"
#include "test/simulation/event_loop.h"

namespace berth::simulation {

class ProcessClock final : public util::Clock {
 public:
  ProcessClock(const EventLoop* loop, double rate, absl::Duration wall_offset)
      : loop_(loop), rate_(rate), wall_offset_(wall_offset), born_(loop->now()) {}
  absl::Duration Steady() const override { return absl::Seconds(1000) + (loop_->now() - born_) * rate_; }
  absl::Time Wall() const override {
    return absl::FromUnixSeconds(1'500'000'000) + loop_->now() * rate_ + wall_offset_;
  }
  // The wall clock is set; the steady one goes on.
  void Jump(absl::Duration d) { wall_offset_ += d; }
  double rate() const { return rate_; }

 private:
  const EventLoop* loop_;
  double rate_;
  absl::Duration wall_offset_, born_;
};

class ProcessExecutor final : public client::Executor {
 public:
  // `after`: called behind everything that ran.
  ProcessExecutor(EventLoop* loop, double rate, absl::Duration wall_offset, std::function<void()> after)
      : state_(std::make_shared<State>(loop, std::move(after))), clock_(loop, rate, wall_offset) {}
  ~ProcessExecutor() override { Kill(); }

  void Post(std::function<void()> f) override { Schedule(state_->loop->now(), 0, std::move(f)); }
  TimerId After(absl::Duration delay, std::function<void()> f) override {
    const TimerId id = ++last_;
    state_->timers.insert(id);
    // The clock knows whole nanoseconds only; a timer must not fire before its time on a clock that is slow.
    const absl::Duration wait =
        absl::Ceil(std::max(delay, absl::ZeroDuration()) / clock_.rate(), absl::Nanoseconds(1)) + absl::Nanoseconds(2);
    Schedule(state_->loop->now() + wait, id, std::move(f));
    return id;
  }
  void Cancel(TimerId id) override { state_->timers.erase(id); }
  const util::Clock& clock() const override { return clock_; }
  ProcessClock& process_clock() { return clock_; }

  // Nothing runs until then; what was due runs then, in the order in which it was due.
  void PauseUntil(absl::Duration when) { state_->paused_until = std::max(state_->paused_until, when); }
  void Kill() { state_->dead = true; }
  size_t timers() const { return state_->timers.size(); }

 private:
  struct Work {
    TimerId id;  // 0: no timer
    std::function<void()> f;
  };
  struct State {
    State(EventLoop* l, std::function<void()> a) : loop(l), after(std::move(a)) {}
    EventLoop* loop;
    std::function<void()> after;
    absl::flat_hash_set<TimerId> timers;
    absl::Duration paused_until;
    std::deque<Work> held;  // what was due while the process was stopped; not empty only until Wake has run it
    bool dead = false;
  };

  void Schedule(absl::Duration when, TimerId id, std::function<void()> f) {
    state_->loop->At(when, [s = state_, id, f = std::move(f)]() mutable { Due(s, {id, std::move(f)}); });
  }
  static void Due(const std::shared_ptr<State>& s, Work w) {
    if (s->dead) return;
    if (s->loop->now() >= s->paused_until && s->held.empty()) return Run(s, std::move(w));
    s->held.push_back(std::move(w));
    if (s->held.size() == 1) WakeAtEndOfPause(s);
  }
  static void WakeAtEndOfPause(const std::shared_ptr<State>& s) {
    s->loop->At(s->paused_until, [s] {
      if (s->loop->now() < s->paused_until) return WakeAtEndOfPause(s);  // stopped again meanwhile
      while (!s->held.empty() && !s->dead) {
        Work w = std::move(s->held.front());
        s->held.pop_front();
        Run(s, std::move(w));
      }
    });
  }
  static void Run(const std::shared_ptr<State>& s, Work w) {
    if (w.id != 0 && s->timers.erase(w.id) == 0) return;  // cancelled
    w.f();
    w.f = nullptr;
    if (!s->dead) s->after();
  }

  std::shared_ptr<State> state_;
  ProcessClock clock_;
  TimerId last_ = 0;
};

}  // namespace berth::simulation
