#include "pkg/flags/help_text.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/flags/flag_set.h"
#include "pkg/util/status.h"

namespace berth::flags {
namespace {

// Where the purposes of flags begin. The longest word of them, the name of a feature gate, has room beside it.
constexpr size_t kPurposeColumn = 28;

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
      absl::StrAppend(&line, line.size() > indent ? " " : "", util::ToAbsl(word));
    }
    out += line;
    if (end == text.size()) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string HelpOf(const Flag& flag) {
  const std::string before = flag.shorthand == 0 ? "      " : absl::StrCat("  -", std::string(1, flag.shorthand), ", ");
  const std::string left = absl::StrCat(before, "--", flag.name, flag.value.empty() ? "" : " ", flag.value);
  std::string purpose = flag.purpose;
  if (!flag.otherwise.empty()) absl::StrAppend(&purpose, " (default ", flag.otherwise, ")");
  const std::string beside = Wrapped(purpose, kPurposeColumn);
  if (left.size() + 2 > kPurposeColumn) return absl::StrCat(left, "\n", beside, "\n");
  return absl::StrCat(left, beside.substr(left.size()), "\n");
}

}  // namespace berth::flags
