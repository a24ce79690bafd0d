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

// Source: validation of RequestedToCapacityRatioArguments in later releases; 1.10 does not know these arguments.
void CheckRatio(const PriorityPolicy& p, const RatioArguments& a, int64_t most_weight,
                std::vector<std::string>* problems) {
  const std::string path = absl::StrCat("Priority ", p.name, ": requestedToCapacityRatioArguments.");
  if (a.shape.empty()) problems->push_back(path + "shape: Required value: at least one point must be specified");
  auto invalid = [&](size_t i, const char* field, int64_t value, const char* right) {
    problems->push_back(absl::StrCat(path, "shape[", i, "].", field, ": Invalid value: ", value, ": ", right));
  };
  for (size_t i = 0; i < a.shape.size(); ++i) {
    const RatioArguments::Point& point = a.shape[i];
    if (i > 0 && a.shape[i - 1].utilization >= point.utilization) {
      invalid(i, "utilization", point.utilization, "utilization values must be sorted in increasing order");
    }
    if (point.utilization < 0 || point.utilization > 100) {
      invalid(i, "utilization", point.utilization, "not in valid range [0, 100]");
    }
    if (point.score < 0 || point.score > 10) invalid(i, "score", point.score, "not in valid range [0, 10]");
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
