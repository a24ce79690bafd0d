// The text of a large input, whose memory is given back while it is read.
#pragma once
#include <absl/status/statusor.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace berth::api {

// The uncompressed text of one input. A large regular file is mapped into memory, so that only the part that is being
// read takes memory; everything else is read into memory as a whole. If a mapped file is cut short by another program
// while it is read, the process prints an error and exits with status 1.
class InputText {
 public:
  // Opens a file, or standard input for "-". Errors are those of ReadInput in stream.h.
  static absl::StatusOr<InputText> Open(const std::string& path);
  // Returns the input with this text. The text must outlive it.
  static InputText Of(std::string_view text) { return InputText(text); }
  InputText(InputText&& o) noexcept
      : owned_(std::move(o.owned_)),
        mapped_(std::exchange(o.mapped_, nullptr)),
        borrowed_(o.borrowed_),
        size_(o.size_),
        released_(o.released_) {}
  InputText& operator=(InputText&&) = delete;
  ~InputText();

  // Valid as long as this object is not moved or destroyed.
  std::string_view text() const {
    if (borrowed_.data() != nullptr) return borrowed_;
    return mapped_ != nullptr ? std::string_view(mapped_, size_) : owned_;
  }

  // Says that the text before the offset has been read. Its memory may be given back; if it is read again all the same,
  // it comes from the file again. Calls are cheap and may come after every object.
  void DoneTo(size_t offset);
  // Says that reading begins again at the front.
  void Rewind() { released_ = 0; }

 private:
  explicit InputText(std::string owned) : owned_(std::move(owned)) {}
  explicit InputText(std::string_view borrowed) : borrowed_(borrowed) {}
  InputText(char* mapped, size_t size) : mapped_(mapped), size_(size) {}

  std::string owned_;       // empty if the file is mapped
  char* mapped_ = nullptr;  // null if the text is owned_ or borrowed_
  std::string_view borrowed_;
  size_t size_ = 0;
  size_t released_ = 0;  // the pages before this offset have been given back
};

}  // namespace berth::api
