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
  if (!terminal_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + 200ms;
  shown_ = true;
  std::cerr << "\r\033[K" << what_ << ": " << done;
  if (steps_ > 0) std::cerr << " of " << steps_;
  std::cerr << std::flush;
}

}  // namespace berth::schedsim
