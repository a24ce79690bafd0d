// Where the code of this package and of pkg/client runs: on one I/O thread with its timers.
//
// Thread-safety of both packages: every object belongs to the I/O thread, the one that runs the Executor. Unless its
// comment says "may be called from any thread", a method must be called on that thread, and every callback is called
// there. Other threads use Post().
#pragma once
#include <absl/time/time.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "pkg/util/clock.h"

namespace boost::asio {
class io_context;
}

namespace berth::http {

class Executor {
 public:
  using TimerId = uint64_t;  // 0: no timer

  virtual ~Executor() = default;
  // Runs f on the I/O thread, after everything that was posted before. May be called from any thread.
  virtual void Post(std::function<void()> f) = 0;
  // Runs f on the I/O thread when `delay` has passed on the steady clock. If `delay` <= 0, f runs as soon as possible,
  // but not inside this call.
  virtual TimerId After(absl::Duration delay, std::function<void()> f) = 0;
  // Runs f on the I/O thread each time `period` has passed, for as long as the executor runs.
  void Every(absl::Duration period, std::function<void()> f);
  // Cancels a timer; its function will not run. Ids that are 0, unknown or of timers that have fired are ignored.
  virtual void Cancel(TimerId id) = 0;
  // May be called from any thread.
  virtual const util::Clock& clock() const = 0;
};

// An Executor on an io_context that the owner runs on one thread. Posting is cheap: many posts wake the thread once.
// The context must outlive the executor, and must be stopped before the executor is destroyed.
//
// The constructor acquires what the context needs from the system (an epoll and an event descriptor), and throws
// std::system_error if there is none left. So a program fails at its start and not when it opens its first connection
// hours later.
class AsioExecutor final : public Executor {
 public:
  explicit AsioExecutor(boost::asio::io_context* io, const util::Clock* clock = nullptr);  // null: the real clock
  ~AsioExecutor() override;
  void Post(std::function<void()> f) override;
  // Runs the context on the calling thread until it is stopped. A function that is posted on this thread then runs
  // right after the present one, without a system call. A context may also be run without this method.
  void Run();
  // Lets Run() look for what has arrived, is due or was posted by other threads at most once in a period; zero, which
  // is the default, lets it look at once. What comes after a longer silence is therefore handled at once, and what
  // comes soon after something else is handled together at the end of the period. It takes less CPU than one thing at a
  // time. `sleep` waits; null: the thread sleeps. REQUIRES: Run() has not been called.
  void HandleTogether(absl::Duration period, std::function<void(absl::Duration)> sleep = {});
  // Returns whether the calling thread is in Run(). May be called from any thread.
  bool RunsHere() const;
  TimerId After(absl::Duration delay, std::function<void()> f) override;
  void Cancel(TimerId id) override;
  const util::Clock& clock() const override;
  boost::asio::io_context& io();

 private:
  struct State;
  // Runs one function of the context, and waits for it if necessary. Returns false if the context is stopped.
  bool RunOne();
  std::shared_ptr<State> state_;
};

}  // namespace berth::http
