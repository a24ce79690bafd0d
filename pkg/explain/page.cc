#include "pkg/explain/page.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "pkg/util/wrap.h"

namespace berth::explain {
namespace {

using util::BytesOf;
using util::WidthOf;

constexpr size_t kBetween = 3;     // blanks between columns
constexpr size_t kNarrow = 2;      // blanks between columns if they would not fit otherwise
constexpr size_t kNarrowest = 20;  // smaller widths count as this
// Columns are not cut below these widths; the last one is wrapped instead.
constexpr size_t kLeastColumn = 8, kLeastLast = 24;

// Marks the end of a text that was cut with "~".
std::string Cut(const std::string& text, size_t columns) {
  if (WidthOf(text) <= columns) return text;
  return text.substr(0, BytesOf(text, columns - 1)) + "~";
}

const char* CodeOf(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kHeading:
      return "\033[1m";
    case Style::kGood:
      return "\033[32m";
    case Style::kBad:
      return "\033[31m";
    case Style::kFaint:
      return "\033[2m";
  }
  return "";
}

// Returns the widths of the columns, reduced until they fit on the screen. The last one may be narrower than its texts,
// which are then wrapped. Sets `between` to the number of blanks between columns.
std::vector<size_t> Widths(const std::vector<std::vector<std::string>>& rows, size_t screen, size_t* between) {
  *between = kBetween;
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], WidthOf(row[i]));
  }
  if (screen == 0 || widths.empty()) return widths;
  auto total = [&] {
    size_t sum = *between * (widths.size() - 1);
    for (size_t w : widths) sum += w;
    return sum;
  };
  if (total() > screen) {
    *between = kNarrow;
    if (total() <= screen) return widths;
    *between = kBetween;
  }
  if (total() > screen) {
    size_t others = total() - widths.back();
    widths.back() = std::min(widths.back(), std::max(kLeastLast, others < screen ? screen - others : 0));
  }
  if (total() > screen) *between = kNarrow;
  while (total() > screen) {
    auto widest = std::max_element(widths.begin(), widths.end());
    if (*widest <= kLeastColumn) break;  // too many columns; the lines themselves are wrapped
    --*widest;
  }
  return widths;
}

}  // namespace

Screen ScreenOfStdout() {
  Screen s;
  s.terminal = isatty(STDOUT_FILENO) == 1;
  const char* term = std::getenv("TERM");
  const char* no_colour = std::getenv("NO_COLOR");
  s.colour = s.terminal && (no_colour == nullptr || *no_colour == '\0') &&
             (term == nullptr || std::string_view(term) != "dumb");
  if (const char* columns = std::getenv("COLUMNS")) {
    std::string_view text(columns);
    size_t width = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
    if (error == std::errc() && end == text.data() + text.size() && width > 0) s.width = std::max(width, kNarrowest);
  }
  if (s.width == 0 && s.terminal) {
    winsize size{};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    s.width = known ? std::max<size_t>(size.ws_col, kNarrowest) : 80;
  }
  return s;
}

void Page::Put(std::string_view line, Style style) {
  while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
  const bool coloured = screen_.colour && style != Style::kPlain && !line.empty();
  if (coloured) text_ += CodeOf(style);
  text_ += line;
  if (coloured) text_ += "\033[0m";
  text_ += '\n';
}

Page& Page::Line(std::string_view text, Style style) {
  if (screen_.width == 0 || WidthOf(text) <= screen_.width) {
    Put(text, style);
    return *this;
  }
  size_t indent = text.find_first_not_of(' ');
  if (indent == std::string_view::npos) indent = 0;
  indent = std::min(indent + 4, screen_.width / 2);
  bool first = true;
  for (std::string_view piece : util::Wrap(text, {screen_.width, screen_.width - indent, false, true})) {
    Put(first ? std::string(piece) : std::string(indent, ' ') + std::string(piece), style);
    first = false;
  }
  return *this;
}

Page& Page::Rows(const std::vector<std::vector<std::string>>& rows, bool heading, const std::vector<Style>& styles) {
  size_t between = kBetween;
  const std::vector<size_t> widths = Widths(rows, screen_.width, &between);
  for (size_t k = 0; k < rows.size(); ++k) {
    const auto& row = rows[k];
    Style style = k < styles.size() ? styles[k] : heading && k == 0 ? Style::kHeading : Style::kPlain;
    std::string line;
    size_t begin = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      if (i + 1 < widths.size()) {
        std::string cell = Cut(row[i], widths[i]);
        line += cell + std::string(widths[i] - WidthOf(cell) + between, ' ');
        begin += widths[i] + between;
        continue;
      }
      std::vector<std::string_view> pieces = {row[i]};
      if (screen_.width != 0) pieces = util::Wrap(row[i], {widths[i], widths[i], false, true});
      for (size_t p = 0; p < pieces.size(); ++p) {
        if (p > 0) {
          Line(line, style);
          line.assign(begin, ' ');
        }
        line += pieces[p];
      }
    }
    Line(line, style);
  }
  return *this;
}

}  // namespace berth::explain
