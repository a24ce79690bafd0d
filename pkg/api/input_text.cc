#include "pkg/api/input_text.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pkg/api/stream.h"

namespace berth::api {
namespace {

// Smaller files are read as a whole, because a copy of them cannot change while it is read, and its memory is used
// again for what is made of the text later, which saves page faults.
constexpr size_t kSmallestMapped = 64 << 20;
// How much has been read before its pages are given back. It is a multiple of the size of a page.
constexpr size_t kReleasedAtOnce = 4 << 20;

// The kernel raises SIGBUS when a mapped file has become shorter than its mapping.
void ExplainShorterFile(int) {
  constexpr std::string_view kText = "an input file was cut short by another program while it was read\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kText.data(), kText.size());
  ::_exit(1);
}

// Returns the mapping of a large regular file that is not compressed. Returns null for all other files, and for those
// that cannot be opened or mapped.
char* MapFile(const std::string& path, size_t* size) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat about {};
  char* mapped = nullptr;
  if (::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && static_cast<size_t>(about.st_size) >= kSmallestMapped) {
    *size = static_cast<size_t>(about.st_size);
    void* at = ::mmap(nullptr, *size, PROT_READ, MAP_PRIVATE, file, 0);
    if (at != MAP_FAILED) mapped = static_cast<char*>(at);
  }
  ::close(file);
  if (mapped == nullptr) return nullptr;
  ::signal(SIGBUS, ExplainShorterFile);
  if (std::string_view(mapped, 2) == "\x1f\x8b") {
    ::munmap(mapped, *size);
    return nullptr;
  }
  ::madvise(mapped, *size, MADV_SEQUENTIAL);
  return mapped;
}

}  // namespace

absl::StatusOr<InputText> InputText::Open(const std::string& path) {
  size_t size = 0;
  if (path != "-") {
    if (char* mapped = MapFile(path, &size); mapped != nullptr) return InputText(mapped, size);
  }
  absl::StatusOr<std::string> text = ReadInput(path);
  if (!text.ok()) return text.status();
  return InputText(std::move(*text));
}

InputText::~InputText() {
  if (mapped_ != nullptr) ::munmap(mapped_, size_);
}

void InputText::DoneTo(size_t offset) {
  if (mapped_ == nullptr || offset < released_ + kReleasedAtOnce) return;
  const size_t end = offset / kReleasedAtOnce * kReleasedAtOnce;
  ::madvise(mapped_ + released_, end - released_, MADV_DONTNEED);
  released_ = end;
}

}  // namespace berth::api
