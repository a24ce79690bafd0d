// Compressed files of a recording: written as a stream of Zstandard (RFC 8878), read also as gzip or as plain text.
//
// Threading: none.
#pragma once
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace berth::recording {

class PackedWriter {
 public:
  // Creates the file, for its owner only; one that exists already is an error.
  static absl::StatusOr<std::unique_ptr<PackedWriter>> Create(const std::string& path);
  ~PackedWriter();

  enum class Flush : uint8_t {
    kNone,   // what is packed is written when there is enough of it
    kWrite,  // all that was put so far is in the file and can be read
    kEnd,    // and nothing comes behind it
  };
  // Errors name the file. After an error the file is as far as it got.
  absl::Status Put(std::string_view text, Flush flush);
  // In the file.
  int64_t bytes() const;

 private:
  struct Stream;
  explicit PackedWriter(std::unique_ptr<Stream> stream);
  std::unique_ptr<Stream> stream_;
};

class PackedReader {
 public:
  static absl::StatusOr<std::unique_ptr<PackedReader>> Open(const std::string& path);
  ~PackedReader();

  // Appends some more of the text to `out`; false at the end.
  bool Read(std::string* out);
  // Where the end was reached: the file has no proper end, as when its writer was killed.
  bool ended_early() const;

 private:
  struct Stream;
  explicit PackedReader(std::unique_ptr<Stream> stream);
  std::unique_ptr<Stream> stream_;
};

}  // namespace berth::recording
