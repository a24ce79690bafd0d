#include "pkg/util/wrap.h"

#include <catch2/catch.hpp>
#include <string>

namespace berth::util {
namespace {

using Lines = std::vector<std::string_view>;

TEST_CASE("wrap: lines are broken at blanks") {
  CHECK(Wrap("", {5, 5}) == Lines{""});
  CHECK(Wrap("ab cd", {5, 5}) == Lines{"ab cd"});
  CHECK(Wrap("ab cd ef", {5, 5}) == Lines{"ab cd", "ef"});
  CHECK(Wrap("ab cd ef", {2, 5}) == Lines{"ab", "cd ef"});
  CHECK(Wrap("ab   cd", {4, 4}) == Lines{"ab", "cd"});
  CHECK(Wrap("  ab cd", {5, 5}) == Lines{"  ab", "cd"});
}

TEST_CASE("wrap: a word that is too long") {
  CHECK(Wrap("a bcdefgh i", {4, 4}) == Lines{"a", "bcdefgh", "i"});
  CHECK(Wrap("bcdefgh i", {4, 4}) == Lines{"bcdefgh", "i"});
  CHECK(Wrap("a bcdefgh", {4, 4}) == Lines{"a", "bcdefgh"});
  CHECK(Wrap("a bcdefgh i", {4, 4, false, true}) == Lines{"a", "bcde", "fgh", "i"});
  CHECK(Wrap("  abcdef", {4, 3, false, true}) == Lines{"  ab", "cde", "f"});
}

TEST_CASE("wrap: at commas") {
  CHECK(Wrap("A x2, B, C", {8, 8, true}) == Lines{"A x2, B,", "C"});
  CHECK(Wrap("A x2, B", {4, 4, true}) == Lines{"A x2,", "B"});
}

TEST_CASE("wrap: a character is one column, however many bytes it has") {
  CHECK(WidthOf("\u00e4b\u2192") == 3);
  CHECK(BytesOf("\u00e4b\u2192", 2) == 3);
  CHECK(Wrap("\u00e4\u00e4 \u00e4\u00e4", {5, 5}) == Lines{"\u00e4\u00e4 \u00e4\u00e4"});
  CHECK(Wrap("\u00e4\u00e4\u00e4", {2, 2, false, true}) == Lines{"\u00e4\u00e4", "\u00e4"});
}

}  // namespace
}  // namespace berth::util
