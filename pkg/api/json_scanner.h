// Finds where a JSON value ends, without parsing it, while its bytes arrive.
#pragma once
#include <cstddef>
#include <string_view>

namespace berth::api {

// Follows strings and brackets in order to find the end of a value.
class JsonScanner {
 public:
  // Returns how many bytes of `s` belong to the current value. If that is less than all, the value ends there and
  // done() is true. REQUIRES: the first byte of each value is '{' or '['.
  size_t Scan(std::string_view s);
  // Does the same byte by byte, without vector instructions.
  size_t ScanBytes(std::string_view s);
  bool done() const { return depth_ == 0 && !in_string_; }
  // How many objects and arrays are open, and whether a string is.
  int depth() const { return depth_; }
  bool in_string() const { return in_string_; }
  void Reset() { *this = {}; }

 private:
  static constexpr size_t kBlock = 64;
  // Does the same for kBlock bytes.
  size_t ScanBlock(const char* block);

  int depth_ = 0;
  bool in_string_ = false, escaped_ = false;
};

}  // namespace berth::api
