#include "pkg/scheduler/algorithm/problem_list.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>

namespace berth::scheduler {

std::string ProblemList(const std::vector<std::string>& messages) {
  std::vector<std::string> distinct;
  for (const std::string& m : messages) {
    if (std::find(distinct.begin(), distinct.end(), m) == distinct.end()) distinct.push_back(m);
  }
  return distinct.size() == 1 ? distinct[0] : absl::StrCat("[", absl::StrJoin(distinct, ", "), "]");
}

}  // namespace berth::scheduler
