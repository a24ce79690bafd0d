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
  void Reset() { *this = {}; }

 private:
  int depth_ = 0;
  bool in_string_ = false, escaped_ = false;
};

}  // namespace berth::api
