#include "pkg/explain/output.h"

#include <absl/strings/str_cat.h>

#include "pkg/explain/page.h"
#include "pkg/util/status.h"

namespace berth::explain {

std::string Table(const std::vector<std::vector<std::string>>& rows) {
  return Page(Screen{}).Rows(rows, false).text();
}

std::string Counted(int64_t n, std::string_view what) {
  return absl::StrCat(n, " ", util::ToAbsl(what), n == 1 ? "" : "s");
}

std::string Some(const std::vector<std::string>& names, size_t most) {
  std::string out;
  size_t shown = names.size() <= most + 1 ? names.size() : most;
  for (size_t i = 0; i < shown; ++i) absl::StrAppend(&out, i > 0 ? ", " : "", names[i]);
  if (shown < names.size()) absl::StrAppend(&out, " and ", names.size() - shown, " more");
  return out;
}

}  // namespace berth::explain
