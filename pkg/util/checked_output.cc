// The buffer stores the first error of write(2) and drops everything after it. Finish() also closes the descriptor,
// because some file systems report a failed write only then.
#include "pkg/util/checked_output.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>

namespace berth::util {

class CheckedOutput::Buffer : public std::streambuf {
 public:
  Buffer() { setp(text_.data(), text_.data() + text_.size()); }

  int error() const { return error_; }  // errno of the first failed write; 0: none has failed

  bool Flush() {
    bool ok = Write(pbase(), static_cast<size_t>(pptr() - pbase()));
    setp(text_.data(), text_.data() + text_.size());
    return ok;
  }

  // Some file systems report a failed write only when the file is closed.
  void Close() {
    if (::close(STDOUT_FILENO) != 0 && errno != EBADF && error_ == 0) error_ = errno;
  }

 protected:
  int_type overflow(int_type c) override {
    if (!Flush()) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) {
      *pptr() = traits_type::to_char_type(c);
      pbump(1);
    }
    return traits_type::not_eof(c);
  }

  std::streamsize xsputn(const char* s, std::streamsize n) override {
    if (n <= epptr() - pptr()) {
      std::memcpy(pptr(), s, static_cast<size_t>(n));
      pbump(static_cast<int>(n));
      return n;
    }
    return Flush() && Write(s, static_cast<size_t>(n)) ? n : 0;
  }

  int sync() override { return Flush() ? 0 : -1; }

 private:
  bool Write(const char* s, size_t n) {
    while (n > 0 && error_ == 0) {
      ssize_t written = ::write(STDOUT_FILENO, s, n);
      if (written >= 0) {
        s += written;
        n -= static_cast<size_t>(written);
      } else if (errno != EINTR) {
        error_ = errno;
      }
    }
    return error_ == 0;
  }

  std::array<char, 1 << 16> text_;
  int error_ = 0;
};

CheckedOutput::CheckedOutput(std::string program) : program_(std::move(program)), buffer_(new Buffer) {
  signal(SIGPIPE, SIG_IGN);
  before_ = std::cout.rdbuf(buffer_.get());
}

CheckedOutput::~CheckedOutput() {
  std::cout.flush();
  std::cout.rdbuf(before_);
}

int CheckedOutput::Finish(int status) {
  std::cout.flush();
  if (buffer_->error() == 0) buffer_->Close();
  if (buffer_->error() == 0) return status;
  std::cerr << program_ << ": cannot write standard output: " << std::strerror(buffer_->error()) << "\n";
  return 1;
}

}  // namespace berth::util
