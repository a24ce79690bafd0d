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
  struct Place {
    size_t line, column;  // count from 1
  };
  // `text` must outlive the object. `lines` is the number of lines that precede it in its file.
  explicit LineColumns(std::string_view text, size_t lines = 0) : text_(text), first_(lines + 1) {}

  // Returns the place of the offset; one behind the end of the text counts as the end.
  Place PlaceOf(size_t offset) {
    offset = std::min(offset, text_.size());
    if (offset < offset_) *this = LineColumns(text_, first_ - 1);
    const std::string_view before = text_.substr(0, offset);
    for (size_t end = before.find('\n', offset_); end != before.npos; end = before.find('\n', end + 1)) {
      ++line_;
      begin_ = end + 1;
    }
    offset_ = offset;
    return {line_, offset - begin_ + 1};
  }
  // Returns the place as text.
  std::string At(size_t offset) {
    const Place place = PlaceOf(offset);
    return absl::StrCat("line ", place.line, ", column ", place.column);
  }

 private:
  std::string_view text_;
  size_t first_, offset_ = 0, line_ = first_, begin_ = 0;
};

}  // namespace berth::api
