#include "pkg/api/input_text.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

namespace berth::api {
namespace {

// A file of 65 MiB, which is enough to be mapped, with its number at the beginning of each line.
class LargeFile {
 public:
  LargeFile() {
    char name[] = "/tmp/input-text-XXXXXX";
    ::close(::mkstemp(name));
    path_ = name;
    std::ofstream out(path_);
    for (size_t i = 0; size_ < size_t{65} << 20; ++i) {
      const std::string line = std::to_string(i) + std::string(1000, 'x') + "\n";
      out << line;
      size_ += line.size();
    }
  }
  ~LargeFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }
  size_t size() const { return size_; }

 private:
  std::string path_;
  size_t size_ = 0;
};

TEST_CASE("text that was given back is the same when it is read again") {
  const LargeFile file;
  auto input = InputText::Open(file.path());
  REQUIRE(input.ok());
  REQUIRE(input->text().size() == file.size());
  const std::string begin(input->text().substr(0, 5000)), end(input->text().substr(file.size() - 5000));
  for (size_t at = 0; at < file.size(); at += 3000) input->DoneTo(at);
  input->DoneTo(file.size());
  CHECK(input->text().substr(0, 5000) == begin);
  input->Rewind();
  input->DoneTo(file.size());
  CHECK(input->text().substr(0, 5000) == begin);
  CHECK(input->text().substr(file.size() - 5000) == end);
}

// Reads the last byte of a file that was cut short after it was opened, in a process of its own whose standard error is
// `error`. Returns the exit status, or -1 if a signal ended the process.
int ReadFileThatWasCutShort(const std::string& path, int error) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(error, STDERR_FILENO);
    auto input = InputText::Open(path);
    if (!input.ok() || ::truncate(path.c_str(), 1) != 0) ::_exit(2);
    ::_exit(input->text().back() == 'x' ? 3 : 4);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("a file that is cut short while it is read ends the process with an error") {
  const LargeFile file;
  int error[2];
  REQUIRE(::pipe(error) == 0);
  CHECK(ReadFileThatWasCutShort(file.path(), error[1]) == 1);
  ::close(error[1]);
  char text[200] = {};
  CHECK(::read(error[0], text, sizeof text - 1) > 0);
  ::close(error[0]);
  CHECK(std::string(text) == "an input file was cut short by another program while it was read\n");
}

}  // namespace
}  // namespace berth::api
