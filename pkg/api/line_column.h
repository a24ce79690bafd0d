// Lines and columns of many places in one text.
#pragma once
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace berth::api {

// Says what LineAndColumn (json.h) says. Places are mostly asked for in ascending order, so lines are counted from the
// last one on, and a text with many mistakes is not read from its beginning for each of them.
class LineColumns {
 public:
  // `text` must outlive the object.
  explicit LineColumns(std::string_view text) : text_(text) {}

  std::string At(size_t offset) {
    offset = std::min(offset, text_.size());
    if (offset < offset_) *this = LineColumns(text_);
    const std::string_view before = text_.substr(0, offset);
    for (size_t end = before.find('\n', offset_); end != before.npos; end = before.find('\n', end + 1)) {
      ++line_;
      begin_ = end + 1;
    }
    offset_ = offset;
    return absl::StrCat("line ", line_, ", column ", offset - begin_ + 1);
  }

 private:
  std::string_view text_;
  size_t offset_ = 0, line_ = 1, begin_ = 0;
};

}  // namespace berth::api
