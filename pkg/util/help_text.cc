#include "pkg/util/help_text.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/util/status.h"

namespace berth::util {
namespace {

// Where the purposes of flags begin. The longest word of them, the name of a feature gate, has room beside it.
constexpr size_t kPurposeColumn = 28;

std::string FlagOf(const HelpEntry& e) {
  const std::string before = e.shorthand == 0 ? "      " : absl::StrCat("  -", std::string(1, e.shorthand), ", ");
  return absl::StrCat(before, "--", e.name, e.value.empty() ? "" : " ", e.value);
}

}  // namespace

std::string Wrapped(std::string_view text, size_t indent) {
  std::string out;
  while (true) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view paragraph = text.substr(0, end);
    std::string line(indent, ' ');
    while (!paragraph.empty()) {
      const std::string_view word = paragraph.substr(0, paragraph.find(' '));
      paragraph.remove_prefix(std::min(word.size() + 1, paragraph.size()));
      if (word.empty()) continue;
      if (line.size() > indent && line.size() + 1 + word.size() > kHelpWidth) {
        absl::StrAppend(&out, line, "\n");
        line.assign(indent, ' ');
      }
      absl::StrAppend(&line, line.size() > indent ? " " : "", ToAbsl(word));
    }
    out += line;
    if (end == text.size()) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string HelpOf(const std::vector<HelpEntry>& entries) {
  std::string out;
  for (const HelpEntry& e : entries) {
    const std::string flag = FlagOf(e);
    std::string purpose = e.purpose;
    if (!e.otherwise.empty()) absl::StrAppend(&purpose, " (default ", e.otherwise, ")");
    std::string beside = Wrapped(purpose, kPurposeColumn);
    if (flag.size() + 2 > kPurposeColumn) {
      absl::StrAppend(&out, flag, "\n", beside, "\n");
      continue;
    }
    absl::StrAppend(&out, flag, beside.substr(flag.size()), "\n");
  }
  return out;
}

}  // namespace berth::util
