// A thread that runs an io_context.
#pragma once
#include <memory>
#include <string>
#include <thread>

#include "pkg/http/executor.h"

namespace berth::http {

class EventLoop {
 public:
  // `name` is the name of the thread, at most 15 characters. Throws std::system_error if no file descriptor is left.
  explicit EventLoop(std::string name);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Throws std::system_error if no thread can be created.
  void Start();
  // Stops the loop and joins the thread. Functions that were posted and have not run are dropped when the loop is
  // destroyed.
  void Stop();
  bool running() const { return thread_.joinable(); }
  AsioExecutor* executor() { return &executor_; }
  boost::asio::io_context* io() { return io_.get(); }

 private:
  const std::unique_ptr<boost::asio::io_context> io_;
  AsioExecutor executor_;
  const std::string name_;
  std::thread thread_;
};

}  // namespace berth::http
