// Reads CSV files line by line, however long they are.
#pragma once
#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace berth::simulate {

// The lines of a file, plain or compressed with gzip.
class Lines {
 public:
  virtual ~Lines() = default;
  // Gets the next line without its end, which is valid until the next call. Returns false at the end of the file, and
  // when reading fails.
  virtual bool Next(std::string_view* line) = 0;
  // Returns why reading has failed.
  virtual absl::Status status() const { return absl::OkStatus(); }
};
// Opens a file. An error names it.
absl::StatusOr<std::unique_ptr<Lines>> OpenLines(const std::string& path);
// Returns the lines of a text, which must outlive the object.
std::unique_ptr<Lines> LinesOf(std::string_view text);

// The place of a value in a file, for errors.
struct Cell {
  std::string_view file;
  size_t line = 0;          // counts from 1; 0: the value is in no file
  std::string_view column;  // its name; empty for the line as a whole
};
// Returns an error "FILE:LINE: column NAME: what".
absl::Status ErrorAt(const Cell& cell, std::string_view what);

// Return an error about a value of the cell, which is no name of a pod or a node, no namespace, or no value of a label;
// OK if it is one.
absl::Status CheckName(const Cell& cell, std::string_view value);
absl::Status CheckNamespace(const Cell& cell, std::string_view value);
absl::Status CheckLabelValue(const Cell& cell, std::string_view value);
// As many pods may a row of arrivals stand for, and a workload have.
inline constexpr int64_t kMostPodsAtOnce = 100'000'000;
// Reads a number of pods. An error says that it is not a number from `least` to kMostPodsAtOnce.
absl::Status ReadCount(const Cell& cell, std::string_view value, int64_t least, int64_t* out);

}  // namespace berth::simulate
