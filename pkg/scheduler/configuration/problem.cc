#include "pkg/scheduler/configuration/problem.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

namespace berth::scheduler::configuration {

std::string ToString(const Problem& p) {
  return p.hint.empty() ? p.text : absl::StrCat(p.text, " (", p.hint, ")");
}

std::string ErrorText(const std::vector<Problem>& problems) {
  std::vector<std::string> strict, texts;
  for (const Problem& p : problems) (p.kind == Problem::Kind::kStrict ? strict : texts).push_back(ToString(p));
  if (!strict.empty()) {
    const bool older = strict[0].find(": found unknown field: ") != std::string::npos ||
                       strict[0].find("yaml: unmarshal errors: ") != std::string::npos;
    // Mistakes in the arguments of a plugin say it themselves.
    const bool said = older && strict[0].starts_with("decoding .");
    texts.insert(texts.begin(), absl::StrCat(std::string(said    ? ""
                                                         : older ? kOlderStrictPrefix
                                                                 : kStrictPrefix),
                                             absl::StrJoin(strict, ", ")));
  }
  return texts.size() == 1 ? texts[0] : absl::StrCat("[", absl::StrJoin(texts, ", "), "]");
}

}  // namespace berth::scheduler::configuration
