// Reports an error of the process, and ends a process that must not continue.
#pragma once
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

namespace berth::kube_scheduler {

// Writes "error: <text>" to standard error, as kubectl does. The prefix is omitted if the text has one already, and
// with `bare`, in releases whose errors stand by themselves.
inline void PrintError(std::string_view text, bool bare = false) {
  const bool prefixed = bare || text.starts_with("error:") || text.starts_with("Error ");
  std::fprintf(stderr, "%s%.*s\n", prefixed ? "" : "error: ", static_cast<int>(text.size()), text.data());
}

// Ends the process even if other threads hang, for instance in the log. The text is written only if standard error
// accepts it at once.
[[noreturn]] inline void EndWithoutWaiting(std::string_view text) {
  const std::string line = "error: " + std::string(text) + "\n";
  pollfd error{STDERR_FILENO, POLLOUT, 0};
  if (poll(&error, 1, 0) == 1 && write(STDERR_FILENO, line.data(), std::min<size_t>(line.size(), PIPE_BUF)) < 0) {
    // There is no other way to report this.
  }
  _exit(1);
}

}  // namespace berth::kube_scheduler
