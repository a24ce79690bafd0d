#include "pkg/http/event_loop.h"

#include <pthread.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <utility>

namespace berth::http {

EventLoop::EventLoop(std::string name)
    : io_(std::make_unique<boost::asio::io_context>(1)), executor_(io_.get()), name_(std::move(name)) {}

EventLoop::~EventLoop() {
  Stop();
}

void EventLoop::Start() {
  // The work guard keeps the loop running while nothing is posted.
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), name_.c_str());
    const auto work = boost::asio::make_work_guard(*io_);
    executor_.Run();
  });
}

void EventLoop::Stop() {
  io_->stop();
  if (thread_.joinable()) thread_.join();
}

}  // namespace berth::http
