// How far a long command is, for people who wait.
#pragma once
#include <chrono>
#include <cstddef>
#include <string>

namespace berth::schedsim {

// Prints "placing pods: 3000 of 8152" to standard error, over and over on one line, when standard error is a terminal
// and the work has taken more than two seconds. The line is erased when the object dies. Threading: one thread.
class Progress {
 public:
  // `steps`: 0 when it is not known how many there will be.
  Progress(std::string what, size_t steps);
  ~Progress();
  Progress(const Progress&) = delete;
  void Step() { Show(++done_); }
  // For work that others count.
  void Show(size_t done);

 private:
  using Clock = std::chrono::steady_clock;
  const std::string what_;
  const size_t steps_;
  size_t done_ = 0;
  bool terminal_ = false, shown_ = false;
  Clock::time_point next_;
};

}  // namespace berth::schedsim
