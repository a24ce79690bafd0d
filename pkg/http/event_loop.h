// A thread that runs an io_context.
#pragma once
#include <boost/asio/io_context.hpp>
#include <string>
#include <thread>

#include "pkg/http/executor.h"

namespace berth::http {

class EventLoop {
 public:
  // `name` is the thread's, at most 15 characters. Throws std::system_error when the system has no descriptor left.
  explicit EventLoop(std::string name);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Throws std::system_error when the system has no thread left.
  void Start();
  // Ends what runs, and waits for the thread. What was posted and has not run is dropped when the loop is destroyed.
  void Stop();
  bool running() const { return thread_.joinable(); }
  AsioExecutor* executor() { return &executor_; }
  boost::asio::io_context* io() { return &io_; }

 private:
  boost::asio::io_context io_{1};
  AsioExecutor executor_;
  const std::string name_;
  std::thread thread_;
};

}  // namespace berth::http
