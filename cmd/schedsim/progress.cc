#include "cmd/schedsim/progress.h"

#include <unistd.h>

#include <iostream>

namespace berth::schedsim {

using namespace std::chrono_literals;

Progress::Progress(std::string what, size_t steps)
    : what_(std::move(what)), steps_(steps), terminal_(isatty(STDERR_FILENO) == 1), next_(Clock::now() + 2s) {}

Progress::~Progress() {
  if (shown_) std::cerr << "\r\033[K" << std::flush;
}

void Progress::Show(size_t done) {
  if (!terminal_ || Clock::now() < next_) return;
  std::string how_far = std::to_string(done);
  if (steps_ > 0) how_far += " of " + std::to_string(steps_);
  Show(how_far);
}

void Progress::Show(const std::string& how_far) {
  if (!terminal_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + 200ms;
  shown_ = true;
  std::cerr << "\r\033[K" << what_ << ": " << how_far << std::flush;
}

}  // namespace berth::schedsim
