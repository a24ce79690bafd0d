#include "pkg/api/line_column.h"

#include <catch2/catch.hpp>

#include "pkg/api/json.h"

namespace berth::api {
namespace {

TEST_CASE("places are the same in whatever order they are asked for") {
  const std::string text = "a\n\nbc\r\nd";
  LineColumns forwards(text), backwards(text), jumping(text);
  for (size_t i = 0; i <= text.size() + 2; ++i) {
    CHECK(forwards.At(i) == LineAndColumn(text, i));
    const size_t back = text.size() + 2 - i;
    CHECK(backwards.At(back) == LineAndColumn(text, back));
    const size_t jump = i * 7 % (text.size() + 1);
    CHECK(jumping.At(jump) == LineAndColumn(text, jump));
  }
  CHECK(LineColumns("").At(0) == "line 1, column 1");
}

TEST_CASE("places in a text that other lines precede in its file") {
  LineColumns places("a\nbc", 4);
  CHECK(places.At(3) == "line 6, column 2");
  CHECK(places.At(0) == "line 5, column 1");
  CHECK(places.PlaceOf(2).line == 6);
  CHECK(places.PlaceOf(2).column == 1);
}

}  // namespace
}  // namespace berth::api
