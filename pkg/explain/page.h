// Formats text for the terminal: wraps it to the width of the terminal and adds colour.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace berth::explain {

enum class Style { kPlain, kHeading, kGood, kBad, kFaint };

// The capabilities of the output.
struct Screen {
  size_t width = 0;  // in columns; 0 means that lines are neither cut nor wrapped
  bool colour = false;
  bool terminal = false;
};

// Returns the capabilities of standard output. The width is COLUMNS if set, otherwise that of the terminal, otherwise
// 80 for a terminal of unknown width and 0 for other outputs. Colour is used on a terminal unless NO_COLOR is set or
// TERM is "dumb".
Screen ScreenOfStdout();

// Collects lines. No line of the result is wider than the screen.
class Page {
 public:
  explicit Page(const Screen& screen) : screen_(screen) {}

  // Adds a line, wrapped at blanks. Continuation lines are indented by four more columns than the line itself.
  Page& Line(std::string_view text, Style style = Style::kPlain);
  Page& Blank() { return Line(""); }
  // Adds a table. Columns have equal widths in all rows, with three blanks in between, or two if the screen is too
  // narrow. If it is still too narrow, first the last column is wrapped and then the widest other columns are cut.
  // `heading` says whether the first row is a heading. `styles` is empty or has one element for each row.
  Page& Rows(const std::vector<std::vector<std::string>>& rows, bool heading, const std::vector<Style>& styles = {});

  const std::string& text() const { return text_; }

 private:
  void Put(std::string_view line, Style style);
  Screen screen_;
  std::string text_;
};

}  // namespace berth::explain
