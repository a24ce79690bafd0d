#include "pkg/flags/help_text.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "pkg/flags/flag_set.h"
#include "pkg/util/status.h"
#include "pkg/util/wrap.h"

namespace berth::flags {
namespace {

// Where the purposes of flags begin. The longest word of them, the name of a feature gate, has room beside it.
constexpr size_t kPurposeColumn = 28;

}  // namespace

std::string Wrapped(std::string_view text, size_t indent) {
  const size_t width = kHelpWidth - std::min(indent, kHelpWidth);
  std::string out;
  while (true) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view paragraph = text.substr(0, end);
    paragraph.remove_prefix(std::min(paragraph.find_first_not_of(' '), paragraph.size()));
    const char* before = "";
    for (const std::string_view line : util::Wrap(paragraph, {width, width})) {
      absl::StrAppend(&out, before, std::string(indent, ' '), util::ToAbsl(line));
      before = "\n";
    }
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
