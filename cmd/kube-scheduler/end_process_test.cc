#include "cmd/kube-scheduler/end_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <catch2/catch.hpp>

#include <array>

namespace berth::kube_scheduler {
namespace {

struct Pipe {
  Pipe() { REQUIRE(pipe(ends.data()) == 0); }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
  std::array<int, 2> ends{};
};

// Returns what wait() says of a process whose standard error is the pipe, and which may take ten seconds at most.
int StatusOfEnding(const Pipe& error, std::string_view text) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    dup2(error.ends[1], STDERR_FILENO);
    EndWithoutWaiting(text);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

TEST_CASE("a process ends without waiting for whoever should read its last words") {
  Pipe full;
  fcntl(full.ends[1], F_SETFL, O_NONBLOCK);
  const std::array<char, 4096> bytes{};
  while (write(full.ends[1], bytes.data(), bytes.size()) > 0) {
  }
  fcntl(full.ends[1], F_SETFL, 0);
  const int status = StatusOfEnding(full, "lost lease");
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
}

TEST_CASE("last words are written when they can be") {
  Pipe error;
  const int status = StatusOfEnding(error, "lost lease");
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
  std::array<char, 64> words{};
  const ssize_t n = read(error.ends[0], words.data(), words.size());
  REQUIRE(n > 0);
  CHECK(std::string(words.data(), static_cast<size_t>(n)) == "error: lost lease\n");
}

}  // namespace
}  // namespace berth::kube_scheduler
