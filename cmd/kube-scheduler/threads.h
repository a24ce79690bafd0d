// The daemon's threads, and how one waits for another.
#pragma once
#include <absl/time/time.h>
#include <pthread.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "pkg/client/executor.h"

namespace berth::kube_scheduler {

// A thread that runs an io_context.
class IoThread {
 public:
  explicit IoThread(const char* name) : work_(boost::asio::make_work_guard(io_)), executor_(&io_), name_(name) {}
  ~IoThread() { Stop(); }
  void Start() {
    thread_ = std::thread([this] {
      pthread_setname_np(pthread_self(), name_);
      io_.run();
    });
  }
  void Stop() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }
  client::AsioExecutor* executor() { return &executor_; }

 private:
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  client::AsioExecutor executor_;
  const char* name_;
  std::thread thread_;
};

// Something one thread says and another waits for.
class Flag1 {
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
