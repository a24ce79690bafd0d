// The event loop as one simulated process sees it: with a clock that drifts, and that stands still for the process
// while it is stopped (SIGSTOP, a frozen virtual machine). What a killed process still had to do never happens.
#pragma once
#include <absl/container/flat_hash_set.h>

#include <algorithm>
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
      : state_(std::make_shared<State>(State{loop, {}, std::move(after), {}, {}})), clock_(loop, rate, wall_offset) {}
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

  // Nothing runs until then; what was due runs then.
  void PauseUntil(absl::Duration when) { state_->paused_until = std::max(state_->paused_until, when); }
  void Kill() { state_->dead = true; }
  size_t timers() const { return state_->timers.size(); }

 private:
  struct State {
    EventLoop* loop;
    absl::flat_hash_set<TimerId> timers;
    std::function<void()> after;
    absl::Duration paused_until;
    bool dead = false;
  };

  void Schedule(absl::Duration when, TimerId id, std::function<void()> f) {
    state_->loop->At(when, [s = state_, id, f = std::move(f)]() mutable { Run(s, id, std::move(f)); });
  }
  static void Run(const std::shared_ptr<State>& s, TimerId id, std::function<void()> f) {
    if (s->dead) return;
    if (id != 0 && !s->timers.contains(id)) return;
    if (s->loop->now() < s->paused_until) {
      s->loop->At(s->paused_until, [s, id, f = std::move(f)]() mutable { Run(s, id, std::move(f)); });
      return;
    }
    s->timers.erase(id);
    f();
    f = nullptr;
    if (!s->dead) s->after();
  }

  std::shared_ptr<State> state_;
  ProcessClock clock_;
  TimerId last_ = 0;
};

}  // namespace berth::simulation
