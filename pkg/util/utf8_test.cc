#include "pkg/util/utf8.h"

#include <catch2/catch.hpp>
#include <string>

namespace berth::util {

TEST_CASE("what is UTF-8 and what is not") {
  for (const std::string text :
       {"", "a", "\u00e9", "\u20ac", "\U0001F600", "a\u00e9\u20acz", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"}) {
    INFO(text);
    CHECK(IsUtf8(text));
  }
  for (const std::string text : {"\x80", "\xc3", "\xc0\xaf", "\xe2\x82", "\xe0\x80\x80", "\xed\xa0\x80",
                                 "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xff", "a\xfez"}) {
    INFO(text);
    CHECK_FALSE(IsUtf8(text));
  }
  CHECK(Utf8Length("\u20acx") == 3);
  CHECK(Utf8Length(std::string_view("\0x", 2)) == 1);
}

}  // namespace berth::util
