#include "pkg/scheduler/configuration/problem.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

namespace berth::scheduler::configuration {

std::string ToString(const Problem& p) {
  return p.hint.empty() ? p.text : absl::StrCat(p.text, " (", p.hint, ")");
}

std::string ErrorText(const std::vector<Problem>& problems) {
  std::vector<std::string> strict, texts;
  std::string_view prefix = kStrictPrefix;
  for (const Problem& p : problems) {
    if (p.kind != Problem::Kind::kStrict) {
      texts.push_back(ToString(p));
      continue;
    }
    if (strict.empty() && p.older) prefix = p.in_args ? std::string_view() : kOlderStrictPrefix;
    strict.push_back(ToString(p));
  }
  if (!strict.empty()) {
    texts.insert(texts.begin(), absl::StrCat(std::string(prefix), absl::StrJoin(strict, ", ")));
  }
  return texts.size() == 1 ? texts[0] : absl::StrCat("[", absl::StrJoin(texts, ", "), "]");
}

}  // namespace berth::scheduler::configuration
