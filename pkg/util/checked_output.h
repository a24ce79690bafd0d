// Standard output that reports failed writes.
#pragma once
#include <memory>
#include <streambuf>
#include <string>

namespace berth::util {

// While an object exists, std::cout writes through it to file descriptor 1, and SIGPIPE is ignored, so that writing to
// a closed pipe fails like any other write. After the first failed write std::cout is bad, and further output is
// dropped; loops that write much can check std::cout in order to end early.
//
// Thread-safety: that of std::cout. Create at most one, which lives as long as the program.
class CheckedOutput {
 public:
  explicit CheckedOutput(std::string program);
  ~CheckedOutput();
  CheckedOutput(const CheckedOutput&) = delete;

  // Flushes the buffer and closes standard output. Returns `status`, or, if any write has failed, prints an error to
  // standard error and returns 1. Later writes are not checked.
  int Finish(int status);

 private:
  class Buffer;
  std::string program_;
  std::unique_ptr<Buffer> buffer_;
  std::streambuf* before_;
};

}  // namespace berth::util
