// The daemon's threads, and a flag by which one waits for another.
#pragma once
#include <absl/time/time.h>

#include <condition_variable>
#include <mutex>

#include "pkg/http/event_loop.h"

namespace berth::kube_scheduler {

using IoThread = http::EventLoop;

// A flag that one thread raises and others wait for. It stays raised.
class OneTimeEvent {
 public:
  void Raise() {
    std::lock_guard lock(mutex_);
    raised_ = true;
    news_.notify_all();
  }
  bool raised() const {
    std::lock_guard lock(mutex_);
    return raised_;
  }
  bool WaitFor(absl::Duration limit) {
    std::unique_lock lock(mutex_);
    return news_.wait_for(lock, absl::ToChronoMicroseconds(limit), [&] { return raised_; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable news_;
  bool raised_ = false;
};

}  // namespace berth::kube_scheduler
