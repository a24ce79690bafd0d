#include "pkg/scheduler/configuration/args_by_point.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "pkg/api/labels.h"
#include "pkg/scheduler/configuration/field_errors.h"
#include "pkg/util/go_text.h"

namespace berth::scheduler::configuration {
namespace {

// Each returns the text of the first mistake, or an empty text.

std::string MistakeIn(const InterPodAffinityArgs& a) {
  if (a.hard_pod_affinity_weight >= 0 && a.hard_pod_affinity_weight <= 100) return {};
  return absl::StrCat("hardPodAffinityWeight: Invalid value: ", a.hard_pod_affinity_weight,
                      ": not in valid range [0-100]");
}

std::string MistakeIn(const NodeResourcesFitArgs& a) {
  auto invalid = [](const char* field, size_t i, const std::string& value, const std::string& why) {
    return absl::StrCat(field, "[", i, "]: Invalid value: ", util::GoQuoted(value), ": ", why);
  };
  for (size_t i = 0; i < a.ignored_resources.size(); ++i) {
    const std::string& name = a.ignored_resources[i];
    for (const std::string& why : api::QualifiedNameProblems(name)) return invalid("ignoredResources", i, name, why);
  }
  for (size_t i = 0; i < a.ignored_resource_groups.size(); ++i) {
    const std::string& group = a.ignored_resource_groups[i];
    if (absl::StrContains(group, "/")) {
      return invalid("ignoredResourceGroups", i, group, "resource group name can't contain '/'");
    }
    for (const std::string& why : api::QualifiedNameProblems(group)) {
      return invalid("ignoredResourceGroups", i, group, why);
    }
  }
  return {};
}

std::string MistakeIn(const std::vector<ResourceSpec>& resources) {
  for (const ResourceSpec& r : resources) {
    if (r.weight <= 0) {
      return absl::StrCat("resource Weight of ", r.name, " should be a positive value, got ", r.weight);
    }
    if (r.weight > 100) return absl::StrCat("resource Weight of ", r.name, " should be less than 100, got ", r.weight);
  }
  return {};
}

std::string MistakeIn(const RequestedToCapacityRatioArgs& a) {
  if (a.shape.empty()) return "at least one point must be specified";
  for (size_t i = 1; i < a.shape.size(); ++i) {
    const int32_t before = a.shape[i - 1].utilization, here = a.shape[i].utilization;
    if (before < here) continue;
    return absl::StrCat("utilization values must be sorted. Utilization[", i - 1, "]==", before, " >= Utilization[", i,
                        "]==", here);
  }
  for (size_t i = 0; i < a.shape.size(); ++i) {
    auto limit = [&](const char* what, const char* name, int32_t value, int32_t most) {
      if (value < 0) return absl::StrCat(what, " values must not be less than 0. ", name, "[", i, "]==", value);
      if (value > most) {
        return absl::StrCat(what, " values must not be greater than ", most, ". ", name, "[", i, "]==", value);
      }
      return std::string();
    };
    if (std::string text = limit("utilization", "Utilization", a.shape[i].utilization, 100); !text.empty()) return text;
    if (std::string text = limit("score", "Score", a.shape[i].score, 10); !text.empty()) return text;
  }
  for (const ResourceSpec& r : a.resources) {
    if (r.weight < 1) return absl::StrCat("resource ", r.name, " weight ", r.weight, " must not be less than 1");
  }
  return {};
}

std::string MistakeIn(const PodTopologySpreadArgs& a) {
  std::set<std::pair<std::string, std::string>> seen;
  for (size_t i = 0; i < a.default_constraints.size(); ++i) {
    const TopologySpreadConstraint& c = a.default_constraints[i];
    const std::string at = absl::StrCat("defaultConstraints[", i, "]");
    if (c.max_skew <= 0) {
      return absl::StrCat(at, ".maxSkew: Invalid value: ", c.max_skew, ": must be greater than zero");
    }
    if (c.topology_key.empty()) return at + ".topologyKey: Required value: can not be empty";
    if (c.when_unsatisfiable != "DoNotSchedule" && c.when_unsatisfiable != "ScheduleAnyway") {
      return absl::StrCat(at, ".whenUnsatisfiable: Unsupported value: ", util::GoQuoted(c.when_unsatisfiable),
                          R"(: supported values: "DoNotSchedule", "ScheduleAnyway")");
    }
    if (c.has_label_selector) {
      return at + ".labelSelector: Forbidden: constraint must not define a selector, as they deduced for each pod";
    }
    if (!seen.emplace(c.topology_key, c.when_unsatisfiable).second) {
      return absl::StrCat(at, ": Duplicate value: \"{", c.topology_key, ", ", c.when_unsatisfiable, "}\"");
    }
  }
  return {};
}

// A label must not be required, or preferred, both ways.
std::string MistakeIn(const NodeLabelArgs& a) {
  auto both = [](const std::vector<std::string>& present, const std::vector<std::string>& absent) -> std::string {
    for (const std::string& label : present) {
      if (std::find(absent.begin(), absent.end(), label) == absent.end()) continue;
      return absl::StrCat("detecting at least one label (e.g., ", util::GoQuoted(label),
                          ") that exist in both the present([", absl::StrJoin(present, " "), "]) and absent([",
                          absl::StrJoin(absent, " "), "]) label list");
    }
    return {};
  };
  const std::string text = both(a.present_labels, a.absent_labels);
  return text.empty() ? both(a.present_labels_preference, a.absent_labels_preference) : text;
}

std::string MistakeIn(const VolumeBindingArgs& a) {
  if (a.bind_timeout_seconds > 0) return {};
  return absl::StrCat("invalid BindTimeoutSeconds: ", a.bind_timeout_seconds, ", must be positive integer");
}

}  // namespace

void CheckArgsByPoint(const ResolvedProfile& profile, const std::string& path, const std::string& creating,
                      std::vector<Problem>* problems) {
  std::set<std::string_view> enabled;
  for (const auto& plugins : profile.points) {
    for (const auto& p : plugins) enabled.insert(p.name);
  }
  auto check = [&](std::string_view plugin, const std::string& text) {
    if (text.empty() || !enabled.contains(plugin)) return;
    problems->push_back({Problem::Kind::kProfile,
                         path + ".pluginConfig",
                         absl::StrCat(creating, "error initializing plugin ", util::GoQuoted(plugin), ": ", text),
                         {}});
  };
  check("InterPodAffinity", MistakeIn(profile.Args<InterPodAffinityArgs>("InterPodAffinity")));
  check("NodeLabel", MistakeIn(profile.Args<NodeLabelArgs>("NodeLabel")));
  check("NodeResourcesFit", MistakeIn(profile.Args<NodeResourcesFitArgs>("NodeResourcesFit")));
  check("NodeResourcesLeastAllocated",
        MistakeIn(profile.Args<NodeResourcesLeastAllocatedArgs>("NodeResourcesLeastAllocated").resources));
  check("NodeResourcesMostAllocated",
        MistakeIn(profile.Args<NodeResourcesMostAllocatedArgs>("NodeResourcesMostAllocated").resources));
  check("PodTopologySpread", MistakeIn(profile.Args<PodTopologySpreadArgs>("PodTopologySpread")));
  check("RequestedToCapacityRatio", MistakeIn(profile.Args<RequestedToCapacityRatioArgs>("RequestedToCapacityRatio")));
  check("VolumeBinding", MistakeIn(profile.Args<VolumeBindingArgs>("VolumeBinding")));
}

}  // namespace berth::scheduler::configuration
