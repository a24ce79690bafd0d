// Text for people: wrapped to a width, with colour where it helps.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace berth::explain {

enum class Style { kPlain, kHeading, kGood, kBad, kFaint };

// What the output can show.
struct Screen {
  size_t width = 0;  // columns; 0: lines are never cut or wrapped
  bool colour = false;
  bool terminal = false;
};

// Of standard output: the width is COLUMNS where that is set, else the terminal's, else 80 on a terminal that does not
// say, else 0. Colour on a terminal unless NO_COLOR is set or TERM is "dumb".
Screen ScreenOfStdout();

// Collects lines. No line of the result is wider than the screen.
class Page {
 public:
  explicit Page(const Screen& screen) : screen_(screen) {}

  // A line, wrapped at blanks; what follows the first line is indented by four more columns than the line itself.
  Page& Line(std::string_view text, Style style = Style::kPlain);
  Page& Blank() { return Line(""); }
  // Columns of equal width with three blanks between, or two where the screen is too narrow for that. Where it is still
  // too narrow, the last column is wrapped, and then the widest of the others are cut. The first row is a heading when
  // `heading`. `styles`, if not empty, has one for each row.
  Page& Rows(const std::vector<std::vector<std::string>>& rows, bool heading, const std::vector<Style>& styles = {});

  const std::string& text() const { return text_; }

 private:
  void Put(std::string_view line, Style style);
  Screen screen_;
  std::string text_;
};

// How many columns a UTF-8 text takes, one for each character.
size_t WidthOf(std::string_view text);

}  // namespace berth::explain
