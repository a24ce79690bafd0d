// Drives LeaderElection: sends its requests, sets its timer, calls the callbacks, and runs the watchdog.
//
// The state machine is used on the I/O thread only. The values that other threads read are copied after every step:
// into atomics (`leading_`, `renewed_nanos_`) and, under the mutex, into `holder_`. The watchdog reads only those
// copies, so it works even when the I/O thread is blocked.
#include <absl/random/random.h>
#include <absl/strings/str_cat.h>
#include <glog/logging.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "pkg/client/leaderelection.h"
#include "pkg/client/lock_objects.h"

namespace berth::client {

class LeaderElector::Impl : public std::enable_shared_from_this<LeaderElector::Impl> {
 public:
  Impl(Executor* executor, HttpClient* client, EventRecorder* events, LeaderElectionOptions options,
       LeaderElectorCallbacks callbacks)
      : executor_(executor),
        objects_(client, options),
        events_(events),
        options_(options),
        callbacks_(std::move(callbacks)),
        election_(OfFirstObject(std::move(options)),
                  [g = std::make_shared<absl::BitGen>()] { return absl::Uniform(*g, 0.0, 1.0); }) {}

  void Start() {
    if (options_.warns_of_other_kinds) objects_.WarnOfOtherKinds(Wall());
    Act(election_.Tick(Now(), Wall()));
  }

  void Release() {
    executor_->Post([w = weak_from_this()] {
      auto self = w.lock();
      if (self == nullptr || self->stopped_) return;
      self->executor_->Cancel(self->timer_);
      self->timer_ = 0;
      self->Act(self->election_.Release(self->Now(), self->Wall()));
    });
  }

  void Stop() {
    stopped_ = true;
    executor_->Cancel(timer_);
    StopWatchdog();
  }

  bool leading() const { return leading_.load(std::memory_order_acquire); }
  absl::Duration LeaseAge() const {
    if (!leading()) return absl::InfiniteDuration();
    return Now() - absl::Nanoseconds(renewed_nanos_.load(std::memory_order_acquire));
  }
  std::string Holder() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return holder_;
  }

 private:
  using Step = LeaderElection::Step;
  using Event = LeaderElection::Event;
  absl::Duration Now() const { return executor_->clock().Steady(); }
  absl::Time Wall() const { return executor_->clock().Wall(); }

  // The state machine knows one object.
  static LeaderElectionOptions OfFirstObject(LeaderElectionOptions o) {
    o.lock_type = std::string(KindsOfLock(o.lock_type)->first);
    return o;
  }

  // Carries out an action. The state is published first, so that callbacks read the new state.
  void Act(LeaderElection::Action a) {
    Publish();
    auto self = shared_from_this();
    switch (a.step) {
      case Step::kGet:
      case Step::kCreate:
      case Step::kUpdate: {
        objects_.Do(a.step, std::move(a.body), a.timeout, [w = weak_from_this()](const ApiResult<std::string>& answer) {
          auto me = w.lock();
          if (me == nullptr || me->stopped_) return;
          me->Act(me->election_.Answer(answer, me->Now(), me->Wall()));
        });
        break;
      }
      case Step::kWait:
        if (a.wait == absl::InfiniteDuration()) break;
        executor_->Cancel(timer_);
        timer_ = executor_->After(a.wait, [w = weak_from_this()] {
          auto me = w.lock();
          if (me == nullptr || me->stopped_) return;
          me->timer_ = 0;
          me->Act(me->election_.Tick(me->Now(), me->Wall()));
        });
        break;
      case Step::kOver:
        break;
    }
    Tell(a.event);
  }

  // Copies the state for other threads, and starts the watchdog when we become leader for the first time.
  void Publish() {
    bool leading = election_.leader();
    renewed_nanos_.store(absl::ToInt64Nanoseconds(election_.renewed_at()), std::memory_order_release);
    leading_.store(leading, std::memory_order_release);
    {
      std::lock_guard<std::mutex> lock(mutex_);
      holder_ = election_.holder();
    }
    if (leading && !watchdog_.joinable() && callbacks_.on_watchdog) {
      watchdog_ = std::thread([this] { Watch(); });
    }
    changed_.notify_all();
  }

  void Tell(Event e) {
    switch (e) {
      case Event::kBecameLeader:
        Record("became leader");
        if (callbacks_.on_started_leading) callbacks_.on_started_leading();
        break;
      case Event::kLostLease:
        Record("stopped leading");
        if (callbacks_.on_stopped_leading) callbacks_.on_stopped_leading();
        break;
      case Event::kReleased:
        StopWatchdog();
        if (callbacks_.on_released) callbacks_.on_released();
        break;
      case Event::kNone:
        break;
    }
  }

  void Record(const char* what) {
    if (events_ == nullptr) return;
    for (ObjectReference& o : objects_.References(election_.lock())) {
      events_->Record(std::move(o), EventType::kNormal, "LeaderElection", absl::StrCat(options_.identity, " ", what));
    }
  }

  // The watchdog's thread. It calls on_watchdog when three quarters of the time between our own deadline and the expiry
  // of the lease have passed, which is the last moment at which ending the process is certain to be in time.
  void Watch() {
    absl::Duration limit = options_.renew_deadline + (options_.lease - options_.renew_deadline) * 3 / 4;
    std::unique_lock<std::mutex> lock(mutex_);
    while (!watchdog_over_) {
      if (!leading()) {
        changed_.wait(lock);
        continue;
      }
      absl::Duration left = limit - LeaseAge();
      if (left > absl::ZeroDuration()) {
        changed_.wait_for(lock, absl::ToChronoNanoseconds(left));
        continue;
      }
      // Nothing is logged here: what blocks the log, for instance a full pipe at stderr, may be the very reason why the
      // I/O thread stands still.
      const std::string text = absl::StrCat("the lease was not renewed for ", absl::FormatDuration(LeaseAge()),
                                            " and the I/O thread has not noticed");
      lock.unlock();
      callbacks_.on_watchdog(text);
      return;
    }
  }

  void StopWatchdog() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      watchdog_over_ = true;
    }
    changed_.notify_all();
    if (watchdog_.joinable()) watchdog_.join();
  }

  Executor* executor_;
  LockObjects objects_;
  EventRecorder* events_;
  const LeaderElectionOptions options_;
  LeaderElectorCallbacks callbacks_;
  LeaderElection election_;
  bool stopped_ = false;
  Executor::TimerId timer_ = 0;
  std::atomic<bool> leading_{false};
  std::atomic<int64_t> renewed_nanos_{0};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string holder_;          // guarded by mutex_
  bool watchdog_over_ = false;  // guarded by mutex_
  std::thread watchdog_;
};

LeaderElector::LeaderElector(Executor* executor, HttpClient* client, EventRecorder* events,
                             LeaderElectionOptions options, LeaderElectorCallbacks callbacks)
    : impl_(std::make_shared<Impl>(executor, client, events, std::move(options), std::move(callbacks))) {}

LeaderElector::~LeaderElector() {
  impl_->Stop();
}

void LeaderElector::Start() {
  impl_->Start();
}
void LeaderElector::Release() {
  impl_->Release();
}
bool LeaderElector::IsLeader() const {
  return impl_->leading();
}
absl::Duration LeaderElector::LeaseAge() const {
  return impl_->LeaseAge();
}
std::string LeaderElector::Holder() const {
  return impl_->Holder();
}

}  // namespace berth::client
