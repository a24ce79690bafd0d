// The last resort of a process that must not go on.
#pragma once
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace berth::kube_scheduler {

// Ends the process although any other thread may be stuck, in the log for instance. The text goes to standard error
// only when that takes it at once.
[[noreturn]] inline void EndWithoutWaiting(std::string_view text) {
  const std::string line = "error: " + std::string(text) + "\n";
  pollfd error{STDERR_FILENO, POLLOUT, 0};
  if (poll(&error, 1, 0) == 1 && write(STDERR_FILENO, line.data(), std::min<size_t>(line.size(), PIPE_BUF)) < 0) {
    // There is nobody left to tell.
  }
  _exit(1);
}

}  // namespace berth::kube_scheduler
