#include "pkg/http/executor.h"

#include <absl/container/flat_hash_map.h>
#include <absl/time/clock.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <mutex>
#include <utility>
#include <vector>

namespace berth::http {

void Executor::Every(absl::Duration period, std::function<void()> f) {
  After(period, [this, period, f = std::move(f)] {
    f();
    Every(period, f);
  });
}

namespace {

// How many times in a row posted functions run before timers and sockets get their turn.
constexpr int kTurnsInARow = 8;
// The executor whose Run() the thread is in; null if none.
thread_local const AsioExecutor* running_here = nullptr;

}  // namespace

struct AsioExecutor::State : std::enable_shared_from_this<AsioExecutor::State> {
  boost::asio::io_context* io = nullptr;
  const util::Clock* clock = nullptr;
  util::RealClock real_clock;
  std::mutex mutex;
  std::vector<std::function<void()>> posted;  // guarded by mutex
  // The members below are used on the I/O thread only.
  std::vector<std::function<void()>> running;
  TimerId last_id = 0;
  absl::flat_hash_map<TimerId, std::unique_ptr<boost::asio::steady_timer>> timers;
  absl::Duration period;                             // HandleTogether
  absl::Duration woken = -absl::InfiniteDuration();  // when what ended the last wait had run; steady clock
  std::function<void(absl::Duration)> sleep;

  // Runs everything that was posted so far, and returns whether there was anything.
  bool RunPosted() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (posted.empty()) return false;
      running.swap(posted);
    }
    for (auto& f : running) {
      std::function<void()> once = std::move(f);
      once();
    }
    running.clear();
    return true;
  }
  // Lets the loop run what has been posted, after the timers and sockets that are ready.
  void RunLater() {
    boost::asio::post(*io, [s = shared_from_this()] { s->RunPosted(); });
  }
};

AsioExecutor::AsioExecutor(boost::asio::io_context* io, const util::Clock* clock) : state_(std::make_shared<State>()) {
  state_->io = io;
  // Creating a socket makes Asio open the descriptors of its reactor.
  boost::asio::ip::tcp::socket takes_the_descriptors(*io);
  state_->clock = clock != nullptr ? clock : &state_->real_clock;
}

AsioExecutor::~AsioExecutor() {
  state_->timers.clear();
}

void AsioExecutor::Post(std::function<void()> f) {
  bool wake;
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    wake = state_->posted.empty();
    state_->posted.push_back(std::move(f));
  }
  if (wake && !RunsHere()) state_->RunLater();
}

bool AsioExecutor::RunsHere() const {
  return running_here == this;
}

void AsioExecutor::HandleTogether(absl::Duration period, std::function<void(absl::Duration)> sleep) {
  state_->period = period;
  state_->sleep = sleep ? std::move(sleep) : absl::SleepFor;
}

bool AsioExecutor::RunOne() {
  State& s = *state_;
  if (s.period <= absl::ZeroDuration()) return s.io->run_one() > 0;
  if (s.io->poll_one() > 0) return true;
  if (s.io->stopped()) return false;
  const absl::Duration rest = s.woken + s.period - s.clock->Steady();
  if (rest > absl::ZeroDuration()) s.sleep(rest);
  const bool ran = s.io->run_one() > 0;
  s.woken = s.clock->Steady();
  return ran;
}

// A function that was posted on this thread wakes nobody, so the list of posted functions is looked into after each
// handler. If functions keep posting others, the rest is left to the loop, which first looks after timers and sockets.
void AsioExecutor::Run() {
  const AsioExecutor* const before = std::exchange(running_here, this);
  while (RunOne()) {
    int turns = 0;
    while (turns < kTurnsInARow && state_->RunPosted()) ++turns;
    if (turns == kTurnsInARow) state_->RunLater();
  }
  running_here = before;
}

Executor::TimerId AsioExecutor::After(absl::Duration delay, std::function<void()> f) {
  TimerId id = ++state_->last_id;
  auto timer = std::make_unique<boost::asio::steady_timer>(*state_->io);
  // Delays of more than a year, including infinite ones, are shortened to a year, so that the deadline does not
  // overflow.
  timer->expires_after(absl::ToChronoNanoseconds(std::clamp(delay, absl::ZeroDuration(), absl::Hours(24 * 365))));
  timer->async_wait([s = std::weak_ptr<State>(state_), id, f = std::move(f)](const boost::system::error_code& ec) {
    auto state = s.lock();
    if (ec || state == nullptr) return;
    auto it = state->timers.find(id);
    if (it == state->timers.end()) return;
    auto keep = std::move(it->second);
    state->timers.erase(it);
    f();
  });
  state_->timers.emplace(id, std::move(timer));
  return id;
}

void AsioExecutor::Cancel(TimerId id) {
  state_->timers.erase(id);
}

const util::Clock& AsioExecutor::clock() const {
  return *state_->clock;
}

boost::asio::io_context& AsioExecutor::io() {
  return *state_->io;
}

}  // namespace berth::http
