// How the process reports an error, and the last resort of one that must not go on.
#pragma once
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

namespace berth::kube_scheduler {

// Writes "error: <text>" to standard error, as kubectl does; "error: " is not put before a text that begins with it.
inline void PrintError(std::string_view text) {
  const bool prefixed = text.starts_with("error:") || text.starts_with("Error ");
  std::fprintf(stderr, "%s%.*s\n", prefixed ? "" : "error: ", static_cast<int>(text.size()), text.data());
}

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
