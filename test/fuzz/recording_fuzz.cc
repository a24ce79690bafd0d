// Recordings: the lines of a segment, and what a reader makes of them. Whether a recording that can be read replays to
// the same outputs does not matter here, but replaying it ends, without harm.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "pkg/recording/reader.h"
#include "pkg/recording/replay.h"
#include "test/fuzz/fuzz.h"

namespace berth::fuzz {
namespace {

// A file in memory that has a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content) : file_(memfd_create("fuzz", MFD_CLOEXEC)) {
    Require(file_ >= 0 && write(file_, content.data(), content.size()) == static_cast<ssize_t>(content.size()),
            "no file in memory");
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

void Recording(std::string_view input) {
  const MemoryFile file(input);
  auto reader = recording::RecordingReader::Open(file.path());
  if (!reader.ok()) return;
  recording::Step step;
  for (;;) {
    auto more = (*reader)->Next(&step);
    if (!more.ok()) return;
    if (!*more) break;
  }
  (void)recording::Replay(file.path(), {});
}

[[maybe_unused]] const bool kRecordingRegistered = Register({"recording", Recording});

}  // namespace
}  // namespace berth::fuzz
