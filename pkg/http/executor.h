// Where the code of this package and of pkg/client runs: one I/O thread, and its timers.
//
// Threading rule of both packages: every object lives on the I/O thread, the one that runs the Executor. Unless its
// comment says "from any thread", a method is called there, and every callback arrives there. Other threads get in with
// Post().
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
  // Runs f on the I/O thread, after everything posted before it. From any thread.
  virtual void Post(std::function<void()> f) = 0;
  // Runs f on the I/O thread when `delay` has passed on the steady clock (at once, but not inside this call, when <=
  // 0).
  virtual TimerId After(absl::Duration delay, std::function<void()> f) = 0;
  // Forgets a timer; its function will not run. Unknown, fired and 0 ids are ignored.
  virtual void Cancel(TimerId id) = 0;
  // From any thread.
  virtual const util::Clock& clock() const = 0;
};

// On an io_context that the owner runs from one thread. Posting is cheap: many posts wake the thread once. The context
// must outlive the executor, and be stopped before the executor is destroyed.
//
// What the context needs of the system (an epoll and an event descriptor) is taken by the constructor, which throws
// std::system_error when there is none left. A program therefore fails when it starts, and not when it opens its first
// connection hours later.
class AsioExecutor final : public Executor {
 public:
  explicit AsioExecutor(boost::asio::io_context* io, const util::Clock* clock = nullptr);  // null: the real clock
  ~AsioExecutor() override;
  void Post(std::function<void()> f) override;
  TimerId After(absl::Duration delay, std::function<void()> f) override;
  void Cancel(TimerId id) override;
  const util::Clock& clock() const override;
  boost::asio::io_context& io();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace berth::http
