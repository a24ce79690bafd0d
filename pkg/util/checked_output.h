// Standard output of a program, with no failed write lost.
#pragma once
#include <memory>
#include <streambuf>
#include <string>

namespace berth::util {

// While one exists, std::cout writes through it to file descriptor 1, and SIGPIPE is ignored, so that a closed pipe is
// a failed write like any other. After the first failed write std::cout is bad, and everything else written to it is
// dropped; loops that write much check std::cout to end early.
// Threading: as std::cout. At most one at a time, for the life of the program.
class CheckedOutput {
 public:
  explicit CheckedOutput(std::string program);
  ~CheckedOutput();
  CheckedOutput(const CheckedOutput&) = delete;

  // Writes out what is buffered and returns `status`; or, when any write failed, says so on standard error and
  // returns 1. Writing after this is not checked any more.
  int Finish(int status);

 private:
  class Buffer;
  std::string program_;
  std::unique_ptr<Buffer> buffer_;
  std::streambuf* before_;
};

}  // namespace berth::util
