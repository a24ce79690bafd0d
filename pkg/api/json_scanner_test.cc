#include "pkg/api/json_scanner.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>

namespace berth::api {

TEST_CASE("what a vector of bytes scans is what single bytes do") {
  std::minstd_rand random(7);
  // The last two have backslashes, which every other text does without.
  constexpr std::string_view kParts[] = {
      "{",  "}",   "[",   "]",         "\"",
      ",",  ":",   "abc", "{\"a\":\"", "a longer run without anything that counts, as most of a text is",
      "\\", "\\\""};
  for (int turn = 0; turn < 3000; ++turn) {
    std::string text = "{";
    const size_t parts = random() % 120;
    for (size_t i = 0; i < parts; ++i) text += kParts[random() % (std::size(kParts) - (turn % 2 == 0 ? 2 : 0))];
    JsonScanner vectors, bytes;
    // In two pieces, because a state is carried from one to the next.
    const size_t cut = random() % (text.size() + 1);
    for (const std::string_view piece : {std::string_view(text).substr(0, cut), std::string_view(text).substr(cut)}) {
      if (piece.empty()) continue;
      CAPTURE(text, cut);
      const size_t taken = vectors.Scan(piece);
      REQUIRE(taken == bytes.ScanBytes(piece));
      REQUIRE(vectors.done() == bytes.done());
      if (vectors.done()) break;
    }
  }
}

}  // namespace berth::api
