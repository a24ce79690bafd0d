// Compressed files of a recording, written as a stream of Zstandard (RFC 8878), and read as that, gzip or plain text.
// Thread-safety: not thread-safe.
#pragma once
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace berth::recording {

// Returns an error that names what could not be done, the file, and the cause in errno.
absl::Status ErrnoStatus(std::string_view what, const std::string& path);

// The memory of a compressor, about 1 MiB, which one file after another uses. Getting it anew for each file would leave
// the heap in pieces.
class Packer {
 public:
  Packer();
  ~Packer();

 private:
  friend class PackedWriter;
  struct State;
  std::unique_ptr<State> state_;
};

class PackedWriter {
 public:
  // Creates a file that only its owner may read. It is an error if it exists. `packer` must outlive the writer.
  // No other writer may have this packer.
  static absl::StatusOr<std::unique_ptr<PackedWriter>> Create(const std::string& path, Packer* packer);
  ~PackedWriter();

  enum class Flush : uint8_t {
    kNone,   // compressed data is written when there is enough of it
    kWrite,  // everything put so far is in the file and can be read
    kEnd,    // the same, and nothing follows
  };
  // Adds text. Errors name the file; after one, the file contains what was written until then.
  absl::Status Put(std::string_view text, Flush flush);
  // Returns the number of bytes in the file.
  int64_t bytes() const { return bytes_; }

 private:
  PackedWriter(std::string path, int fd, Packer::State* packer);
  // Writes the compressed data to the file.
  absl::Status Empty();

  std::string path_;
  int fd_;
  Packer::State& packer_;
  int64_t bytes_ = 0;
};

class PackedReader {
 public:
  static absl::StatusOr<std::unique_ptr<PackedReader>> Open(const std::string& path);
  ~PackedReader();

  // Appends more text to `out`. Returns false at the end.
  bool Read(std::string* out);
  // Returns whether the file ends improperly, as when its writer was killed. Known once Read has returned false.
  bool ended_early() const;
  // Why the bytes cannot be what was written, after Read has returned false; empty if they can.
  const std::string& damage() const;

 private:
  struct Stream;
  explicit PackedReader(std::unique_ptr<Stream> stream);
  std::unique_ptr<Stream> stream_;
};

}  // namespace berth::recording
