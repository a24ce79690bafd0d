#include "cmd/schedsim/progress.h"

#include <unistd.h>

#include <algorithm>
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
  Show(how_far, steps_ > 0 ? static_cast<double>(done) / static_cast<double>(steps_) : -1);
}

void Progress::Show(const std::string& how_far, double share) {
  if (!terminal_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + 200ms;
  shown_ = true;
  std::string bar;
  if (share >= 0) {
    constexpr size_t kWidth = 20;
    const auto full = static_cast<size_t>(std::min(share, 1.0) * kWidth);
    bar = " [" + std::string(full, '#') + std::string(kWidth - full, '-') + "]";
  }
  std::cerr << "\r\033[K" << what_ << ": " << how_far << bar << std::flush;
}

}  // namespace berth::schedsim
