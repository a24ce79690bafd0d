#include "pkg/explain/page.h"

#include <absl/strings/str_split.h>

#include <catch2/catch.hpp>
#include <random>

#include "pkg/util/wrap.h"

namespace berth::explain {
namespace {

Screen Wide(size_t width) {
  Screen s;
  s.width = width;
  return s;
}

TEST_CASE("without a width nothing is cut") {
  std::string line(300, 'x');
  CHECK(Page({}).Line(line).text() == line + "\n");
  CHECK(Page({}).Rows({{"A", "B"}, {line, "c"}}, true).text() == "A" + std::string(302, ' ') + "B\n" + line + "   c\n");
}

TEST_CASE("a long line goes on under its beginning") {
  CHECK(Page(Wide(20)).Line("  one two three four five six").text() == "  one two three four\n      five six\n");
  CHECK(Page(Wide(20)).Line(std::string(45, 'x')).text() ==
        std::string(20, 'x') + "\n    " + std::string(16, 'x') + "\n    " + std::string(9, 'x') + "\n");
}

TEST_CASE("the last column is wrapped before others are cut") {
  CHECK(Page(Wide(36)).Rows({{"POD", "WHY"}, {"web-1", "there is no room for it on any node"}}, true).text() ==
        "POD     WHY\nweb-1   there is no room for it on\n        any node\n");
}

TEST_CASE("no line is wider than the screen, and no word is lost") {
  std::mt19937 random(7);
  auto word = [&] { return std::string(1 + random() % 30, static_cast<char>('a' + random() % 26)); };
  for (int round = 0; round < 300; ++round) {
    const size_t width = 20 + random() % 100, columns = 1 + random() % 12;
    std::vector<std::vector<std::string>> rows;
    for (size_t r = 0; r < 1 + random() % 5; ++r) {
      rows.emplace_back();
      for (size_t c = 0; c < columns; ++c) {
        std::string cell = word();
        for (size_t k = random() % 6; k > 0; --k) cell += (random() % 2 != 0u ? " " : "\u00e4") + word();
        rows.back().push_back(cell);
      }
    }
    Page page(Wide(width));
    page.Rows(rows, true).Line(rows[0][0] + " " + word());
    for (absl::string_view line : absl::StrSplit(page.text(), '\n')) {
      INFO(std::string(line));
      CHECK(util::WidthOf(std::string_view(line.data(), line.size())) <= width);
    }
  }
}

TEST_CASE("colour is put around a line, never into its width") {
  Screen s = Wide(20);
  s.colour = true;
  CHECK(Page(s).Line("good", Style::kGood).Line("plain").text() == "\033[32mgood\033[0m\nplain\n");
}

}  // namespace
}  // namespace berth::explain
