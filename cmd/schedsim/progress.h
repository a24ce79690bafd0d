// Shows the progress of a long command.
#pragma once
#include <chrono>
#include <cstddef>
#include <string>

namespace berth::schedsim {

// Prints "placing pods: 3000 of 8152 [#######-------------]" to standard error, again and again on one line, if
// standard error is a terminal and the work has taken more than two seconds. The destructor erases the line.
// Thread-safety: not thread-safe.
class Progress {
 public:
  // `steps` is 0 if the number of steps is not known.
  Progress(std::string what, size_t steps);
  ~Progress();
  Progress(const Progress&) = delete;
  void Step() { Show(++done_); }
  // Shows a number that the caller counts.
  void Show(size_t done);
  // Shows a text in the place of a number: "simulating: 3d of 149d". The bar shows `share`, from 0 to 1; there is none
  // if it is negative.
  void Show(const std::string& how_far, double share = -1);

 private:
  using Clock = std::chrono::steady_clock;
  const std::string what_;
  const size_t steps_;
  size_t done_ = 0;
  bool terminal_ = false, shown_ = false;
  Clock::time_point next_;
};

}  // namespace berth::schedsim
