#include "pkg/scheduler/policy/validation.h"

#include <absl/strings/str_cat.h>

#include <limits>
#include <set>

#include "pkg/api/labels.h"
#include "pkg/api/resource_names.h"
#include "pkg/http/url.h"

namespace berth::scheduler {
namespace {

using RatioArguments = PriorityPolicy::Argument::RequestedToCapacityRatio;

// Returns what is wrong with a shape, or an empty text: first its order, then each point (1.13 NewFunctionShape). The
// words of the last one are the release's own.
std::string ShapeProblem(const std::vector<RatioArguments::Point>& shape) {
  if (shape.empty()) return "at least one point must be specified";
  for (size_t i = 1; i < shape.size(); ++i) {
    if (shape[i - 1].utilization < shape[i].utilization) continue;
    return absl::StrCat("utilization values must be sorted. Utilization[", i - 1, "]==", shape[i - 1].utilization,
                        " >= Utilization[", i, "]==", shape[i].utilization);
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    const RatioArguments::Point& p = shape[i];
    const std::string utilization = absl::StrCat(". Utilization[", i, "]==", p.utilization);
    const std::string score = absl::StrCat(". Score[", i, "]==", p.score);
    if (p.utilization < 0) return absl::StrCat("utilization values must not be less than 0", utilization);
    if (p.utilization > 100) return absl::StrCat("utilization values must not be greater than 100", utilization);
    if (p.score < 0) return absl::StrCat("score values must not be less than 0", score);
    if (p.score > 10) return absl::StrCat("score valuses not be greater than 10", score);
  }
  return {};
}

void CheckRatio(const PriorityPolicy& p, const RatioArguments& a, int64_t most_weight,
                std::vector<std::string>* problems) {
  const std::string path = absl::StrCat("Priority ", p.name, ": requestedToCapacityRatioArguments.");
  if (const std::string problem = ShapeProblem(a.shape); !problem.empty()) {
    problems->push_back(absl::StrCat("invalid RequestedToCapacityRatioPriority arguments: ", problem));
  }
  for (size_t i = 0; i < a.resources.size(); ++i) {
    if (a.resources[i].weight > 0 && a.resources[i].weight <= most_weight) continue;
    problems->push_back(absl::StrCat(path, "resources[", i, "].weight: Invalid value: ", a.resources[i].weight,
                                     ": resource weight of ", a.resources[i].name, " not in valid range (0, ",
                                     most_weight, "]"));
  }
}

}  // namespace

std::vector<std::string> ValidatePolicy(const Policy& policy, int64_t most_resource_weight) {
  constexpr int64_t kMaxScore = 10;  // the highest score in all releases that read Policies
  constexpr int64_t kMaxWeight = std::numeric_limits<int64_t>::max() / kMaxScore;
  std::vector<std::string> problems;
  if (policy.priorities) {
    for (const PriorityPolicy& p : *policy.priorities) {
      if (p.weight <= 0 || p.weight >= kMaxWeight) {
        problems.push_back(
            absl::StrCat("Priority ", p.name, " should have a positive weight applied to it or it has overflown"));
      }
      if (p.argument && p.argument->requested_to_capacity_ratio) {
        CheckRatio(p, *p.argument->requested_to_capacity_ratio, most_resource_weight, &problems);
      }
    }
  }
  int binders = 0;
  std::set<std::string> managed;
  for (const ExtenderConfig& e : policy.extenders) {
    if (!e.prioritize_verb.empty() && e.weight <= 0) {
      problems.push_back(absl::StrCat("Priority for extender ", http::RedactUrl(e.url_prefix),
                                      " should have a positive weight applied to it"));
    }
    binders += !e.bind_verb.empty();
    for (const ExtenderManagedResource& r : e.managed_resources) {
      std::vector<std::string> name_problems = api::QualifiedNameProblems(r.name);
      problems.insert(problems.end(), name_problems.begin(), name_problems.end());
      if (name_problems.empty() && !api::IsExtendedResourceName(r.name)) {
        problems.push_back(absl::StrCat(r.name, " is an invalid extended resource name"));
      }
      if (!managed.insert(r.name).second) {
        problems.push_back(absl::StrCat("Duplicate extender managed resource name ", r.name));
      }
    }
  }
  if (binders > 1) problems.push_back(absl::StrCat("Only one extender can implement bind, found ", binders));
  return problems;
}

}  // namespace berth::scheduler
