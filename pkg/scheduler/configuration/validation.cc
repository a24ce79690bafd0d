#include "pkg/scheduler/configuration/validation.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <map>
#include <set>

#include "pkg/api/labels.h"
#include "pkg/api/resource_names.h"
#include "pkg/scheduler/configuration/field_errors.h"

namespace berth::scheduler::configuration {
namespace {

using util::GoQuoted;

std::string At(const std::string& path, size_t i) {
  return absl::StrCat(path, "[", i, "]");
}

// ---- values in the notation of Go's %#v ----

std::string GoTexts(const std::vector<std::string>& values) {
  std::vector<std::string> quoted;
  for (const std::string& v : values) quoted.push_back(GoQuoted(v));
  return values.empty() ? "[]string(nil)" : absl::StrCat("[]string{", absl::StrJoin(quoted, ", "), "}");
}

std::string GoPlugins(const std::vector<Plugin>& plugins) {
  std::vector<std::string> texts;
  for (const Plugin& p : plugins) {
    texts.push_back(absl::StrCat("config.Plugin{Name:", GoQuoted(p.name), ", Weight:", p.weight, "}"));
  }
  return texts.empty() ? "[]config.Plugin(nil)" : absl::StrCat("[]config.Plugin{", absl::StrJoin(texts, ", "), "}");
}

std::string GoPluginSet(const PluginSet& s) {
  return absl::StrCat("config.PluginSet{Enabled:", GoPlugins(s.enabled), ", Disabled:", GoPlugins(s.disabled), "}");
}

std::string GoShape(const std::vector<UtilizationShapePoint>& shape) {
  std::vector<std::string> texts;
  for (const UtilizationShapePoint& p : shape) {
    texts.push_back(absl::StrCat("config.UtilizationShapePoint{Utilization:", p.utilization, ", Score:", p.score, "}"));
  }
  return absl::StrCat("[]config.UtilizationShapePoint{", absl::StrJoin(texts, ", "), "}");
}

// ---- arguments of plugins ----

void Check(const DefaultPreemptionArgs& a, const std::string& path, FieldErrors* e) {
  const std::string percentage = path + ".minCandidateNodesPercentage", absolute = path + ".minCandidateNodesAbsolute";
  if (a.min_candidate_nodes_percentage < 0 || a.min_candidate_nodes_percentage > 100) {
    e->Invalid(percentage, a.min_candidate_nodes_percentage, "not in valid range [0, 100]");
  }
  if (a.min_candidate_nodes_absolute < 0) {
    e->Invalid(absolute, a.min_candidate_nodes_absolute, "not in valid range [0, inf)");
  }
  if (a.min_candidate_nodes_percentage == 0 && a.min_candidate_nodes_absolute == 0) {
    e->Invalid(percentage, 0, "cannot be zero at the same time as minCandidateNodesAbsolute");
    e->Invalid(absolute, 0, "cannot be zero at the same time as minCandidateNodesPercentage");
  }
}

void Check(const InterPodAffinityArgs& a, const std::string& path, FieldErrors* e) {
  if (a.hard_pod_affinity_weight < 0 || a.hard_pod_affinity_weight > 100) {
    e->Invalid(path + ".hardPodAffinityWeight", a.hard_pod_affinity_weight, "not in valid range [0, 100]");
  }
}

void CheckLabelRequirement(const NodeSelectorRequirement& r, const std::string& path, FieldErrors* e) {
  static const std::vector<std::string> kOperators = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
  auto known = std::find(kOperators.begin(), kOperators.end(), r.op);
  if (known == kOperators.end()) {
    return e->NotSupported(path + ".operator", r.op, kOperators);
  }
  constexpr api::Operator kMeanings[] = {api::Operator::kIn,          api::Operator::kNotIn,
                                         api::Operator::kExists,      api::Operator::kDoesNotExist,
                                         api::Operator::kGreaterThan, api::Operator::kLessThan};
  api::Operator op = kMeanings[known - kOperators.begin()];
  std::vector<util::Symbol> values(r.values.begin(), r.values.end());
  for (const std::string& text : api::Requirement::Problems(path, r.key, op, values)) e->Whole(text);
}

void CheckTerm(const NodeSelectorTerm& t, const std::string& path, FieldErrors* e) {
  for (size_t i = 0; i < t.match_expressions.size(); ++i) {
    CheckLabelRequirement(t.match_expressions[i], At(path + ".matchExpressions", i), e);
  }
  for (size_t i = 0; i < t.match_fields.size(); ++i) {
    const NodeSelectorRequirement& r = t.match_fields[i];
    const std::string at = At(path + ".matchFields", i);
    if (r.op != "In" && r.op != "NotIn") {
      e->NotSupported(at + ".operator", r.op, {"In", "NotIn"});
    } else if (r.values.size() != 1) {
      e->InvalidRaw(at + ".values", GoTexts(r.values), "must have one element");
    }
  }
}

void Check(const NodeAffinityArgs& a, const std::string& path, FieldErrors* e) {
  if (!a.added_affinity) return;
  const std::string at = path + ".addedAffinity";
  if (a.added_affinity->required) {
    const auto& terms = a.added_affinity->required->node_selector_terms;
    for (size_t i = 0; i < terms.size(); ++i) {
      CheckTerm(terms[i], At(at + ".requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms", i), e);
    }
  }
  const auto& preferred = a.added_affinity->preferred;
  for (size_t i = 0; i < preferred.size(); ++i) {
    // 1.29 ignores terms without a weight.
    if (preferred[i].weight == 0) continue;
    CheckTerm(preferred[i].preference, At(at + ".preferredDuringSchedulingIgnoredDuringExecution", i), e);
  }
}

void Check(const NodeResourcesBalancedAllocationArgs& a, const std::string& path, FieldErrors* e) {
  std::set<std::string> seen;
  for (size_t i = 0; i < a.resources.size(); ++i) {
    const std::string at = At(path + ".resources", i);
    if (!seen.insert(a.resources[i].name).second) e->Duplicate(at + ".name", a.resources[i].name);
    if (a.resources[i].weight != 1) e->Invalid(at + ".weight", a.resources[i].weight, "must be 1");
  }
}

void Check(const PodTopologySpreadArgs& a, const std::string& path, FieldErrors* e) {
  if (a.defaulting_type != "System" && a.defaulting_type != "List") {
    e->NotSupported(path + ".defaultingType", a.defaulting_type, {"System", "List"});
  } else if (a.defaulting_type == "System" && !a.default_constraints.empty()) {
    e->Invalid(path + ".defaultingType", a.defaulting_type, "when .defaultConstraints are not empty");
  }
  std::set<std::pair<std::string, std::string>> seen;
  for (size_t i = 0; i < a.default_constraints.size(); ++i) {
    const TopologySpreadConstraint& c = a.default_constraints[i];
    const std::string at = At(path + ".defaultConstraints", i);
    if (c.max_skew <= 0) e->Invalid(at + ".maxSkew", c.max_skew, "not in valid range (0, inf)");
    if (c.topology_key.empty()) {
      e->Required(at + ".topologyKey", "can not be empty");
    } else {
      for (const std::string& p : api::QualifiedNameProblems(c.topology_key)) {
        e->Invalid(at + ".topologyKey", c.topology_key, p);
      }
    }
    if (c.when_unsatisfiable.empty()) {
      e->Required(at + ".whenUnsatisfiable", "can not be empty");
    } else if (c.when_unsatisfiable != "DoNotSchedule" && c.when_unsatisfiable != "ScheduleAnyway") {
      e->NotSupported(at + ".whenUnsatisfiable", c.when_unsatisfiable, {"DoNotSchedule", "ScheduleAnyway"});
    }
    if (c.has_label_selector) {
      e->Forbidden(at + ".labelSelector", "constraint must not define a selector, as they deduced for each pod");
    }
    if (!seen.emplace(c.topology_key, c.when_unsatisfiable).second) {
      e->Duplicate(at, absl::StrCat("{", c.topology_key, ", ", c.when_unsatisfiable, "}"));
    }
  }
}

void CheckShape(const std::vector<UtilizationShapePoint>& shape, const std::string& path, FieldErrors* e) {
  if (shape.empty()) return e->Required(path, "at least one point must be specified");
  for (size_t i = 1; i < shape.size(); ++i) {
    if (shape[i - 1].utilization < shape[i].utilization) continue;
    e->Invalid(At(path, i) + ".utilization", shape[i].utilization,
               "utilization values must be sorted in increasing order");
    break;
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].utilization < 0 || shape[i].utilization > 100) {
      e->Invalid(At(path, i) + ".utilization", shape[i].utilization, "not in valid range [0, 100]");
    }
    if (shape[i].score < 0 || shape[i].score > 10) {
      e->Invalid(At(path, i) + ".score", shape[i].score, "not in valid range [0, 10]");
    }
  }
}

void Check(const VolumeBindingArgs& a, const std::string& path, const Gates& gates, FieldErrors* e) {
  if (a.bind_timeout_seconds < 0) {
    e->Invalid(path + ".bindTimeoutSeconds", a.bind_timeout_seconds,
               "invalid BindTimeoutSeconds, should not be a negative value");
  }
  if (gates.volume_capacity_priority || gates.storage_capacity_scoring) {
    CheckShape(a.shape, path + ".shape", e);
  } else if (!a.shape.empty()) {
    e->InvalidRaw(path + ".shape", GoShape(a.shape),
                  "unexpected field `shape`, remove it or turn on the feature gate VolumeCapacityPriority");
  }
}

// ---- everything else ----

void CheckConnectionAndLease(const KubeSchedulerConfiguration& c, FieldErrors* e) {
  if (c.client_connection.burst < 0) {
    e->Invalid("clientConnection.burst", c.client_connection.burst, "must be non-negative");
  }
  const LeaderElection& l = c.leader_election;
  if (!l.leader_elect) return;
  auto positive = [&](const char* field, absl::Duration d) {
    if (d <= absl::ZeroDuration()) e->Invalid(absl::StrCat("leaderElection.", field), d, "must be greater than zero");
  };
  positive("leaseDuration", l.lease_duration);
  positive("renewDeadline", l.renew_deadline);
  positive("retryPeriod", l.retry_period);
  if (l.lease_duration <= l.renew_deadline) {
    // As upstream, the message shows the renewDeadline as the invalid value.
    e->Invalid("leaderElection.leaseDuration", l.renew_deadline, "LeaseDuration must be greater than RenewDeadline");
  }
  if (c.version != Version::kV1Beta1 && l.resource_lock != "leases") {
    e->Invalid("leaderElection.resourceLock", l.resource_lock, "resourceLock value must be \"leases\"");
  }
}

void CheckPercentage(const std::string& path, int32_t percentage, FieldErrors* e) {
  if (percentage < 0 || percentage > 100) e->Invalid(path, percentage, "not in valid range [0-100]");
}

void CheckProfile(const Profile& p, Version version, const std::string& path, const Gates& gates, FieldErrors* e) {
  if (p.scheduler_name.value_or("").empty()) e->Required(path + ".schedulerName", "");
  if (p.percentage_of_nodes_to_score) {
    CheckPercentage(path + ".percentageOfNodesToScore", *p.percentage_of_nodes_to_score, e);
  }
  if (version == Version::kV1Beta1) return;  // arguments are checked when the plugins are created (CheckArgsByPoint)
  std::set<std::string> seen;
  for (size_t i = 0; i < p.plugin_config.size(); ++i) {
    const PluginConfig& config = p.plugin_config[i];
    const std::string at = At(path + ".pluginConfig", i), args = at + ".args";
    if (!seen.insert(config.name).second) e->Duplicate(at, config.name);
    const PluginArgs::Typed& typed = config.args.typed;
    if (auto* a = std::get_if<DefaultPreemptionArgs>(&typed)) Check(*a, args, e);
    if (auto* a = std::get_if<InterPodAffinityArgs>(&typed)) Check(*a, args, e);
    if (auto* a = std::get_if<NodeAffinityArgs>(&typed)) Check(*a, args, e);
    if (auto* a = std::get_if<NodeResourcesBalancedAllocationArgs>(&typed)) Check(*a, args, e);
    if (auto* a = std::get_if<PodTopologySpreadArgs>(&typed)) Check(*a, args, e);
    if (auto* a = std::get_if<VolumeBindingArgs>(&typed)) Check(*a, args, gates, e);
  }
}

// All profiles share one queue, so their queueSort plugins must be the same. 1.29 compares what is written, not what
// results from it (bug M-17, kept).
void CheckQueueSort(const std::vector<Profile>& profiles, Version version, FieldErrors* e) {
  const PluginSet& first = profiles[0].plugins.queue_sort;
  if (version != Version::kV1Beta1 && first.enabled.size() > 1) {
    e->Invalid("profiles[0].plugins.queueSort.Enabled", static_cast<int64_t>(first.enabled.size()),
               "only one queue sort plugin can be enabled");
  }
  for (size_t i = 1; i < profiles.size(); ++i) {
    const PluginSet& other = profiles[i].plugins.queue_sort;
    if (other == first) continue;
    e->InvalidRaw(At("profiles", i) + ".plugins.queueSort", GoPluginSet(other), "has to match for all profiles");
  }
}

void CheckExtenders(const std::vector<ExtenderConfig>& extenders, FieldErrors* e) {
  int binders = 0;
  std::set<std::string> managed;
  for (size_t i = 0; i < extenders.size(); ++i) {
    const ExtenderConfig& x = extenders[i];
    const std::string path = At("extenders", i);
    if (!x.prioritize_verb.empty() && x.weight <= 0) {
      e->Invalid(path + ".weight", x.weight, "must have a positive weight applied to it");
    }
    binders += !x.bind_verb.empty();
    for (size_t j = 0; j < x.managed_resources.size(); ++j) {
      const std::string& name = x.managed_resources[j].name;
      const std::string at = At(path + ".managedResources", j) + ".name";
      std::vector<std::string> problems = api::QualifiedNameProblems(name);
      for (const std::string& p : problems) e->Invalid(at, name, p);
      if (problems.empty() && !api::IsExtendedResourceName(name)) {
        e->Invalid(at, name, "is an invalid extended resource name");
      }
      if (!managed.insert(name).second) e->Invalid(at, name, "duplicate extender managed resource name");
    }
  }
  if (binders > 1) {
    e->Invalid("extenders", absl::StrCat("found ", binders, " extenders implementing bind"),
               "only one extender can implement bind");
  }
}

}  // namespace

void Validate(const KubeSchedulerConfiguration& c, const Gates& gates, std::vector<Problem>* problems) {
  FieldErrors e(problems);
  CheckConnectionAndLease(c, &e);
  if (c.parallelism <= 0) e.Invalid("parallelism", c.parallelism, "should be an integer value greater than zero");
  std::set<std::string> names;
  for (size_t i = 0; i < c.profiles.size(); ++i) {
    const Profile& p = c.profiles[i];
    CheckProfile(p, c.version, At("profiles", i), gates, &e);
    const std::string name = p.scheduler_name.value_or("");
    if (!names.insert(name).second) e.Duplicate(At("profiles", i) + ".schedulerName", name);
  }
  CheckQueueSort(c.profiles, c.version, &e);
  CheckPercentage("percentageOfNodesToScore", c.percentage_of_nodes_to_score, &e);
  if (c.pod_initial_backoff_seconds <= 0) {
    e.Invalid("podInitialBackoffSeconds", c.pod_initial_backoff_seconds, "must be greater than 0");
  }
  if (c.pod_max_backoff_seconds < c.pod_initial_backoff_seconds) {
    e.Invalid("podMaxBackoffSeconds", c.pod_max_backoff_seconds,
              "must be greater than or equal to PodInitialBackoffSeconds");
  }
  CheckExtenders(c.extenders, &e);
}

void ValidateNodeResourcesFit(const NodeResourcesFitArgs& a, const std::string& path, const std::string& prefix,
                              std::vector<Problem>* problems) {
  FieldErrors e(problems, path, prefix);
  for (size_t i = 0; i < a.ignored_resources.size(); ++i) {
    for (const std::string& p : api::QualifiedNameProblems(a.ignored_resources[i])) {
      e.Invalid(At("ignoredResources", i), a.ignored_resources[i], p);
    }
  }
  for (size_t i = 0; i < a.ignored_resource_groups.size(); ++i) {
    const std::string& group = a.ignored_resource_groups[i];
    const std::string at = At("ignoredResourceGroups", i);
    if (absl::StrContains(group, "/")) e.Invalid(at, group, "resource group name can't contain '/'");
    for (const std::string& p : api::QualifiedNameProblems(group)) e.Invalid(at, group, p);
  }
  const ScoringStrategy& s = *a.scoring_strategy;
  const std::vector<std::string> types = {"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"};
  if (std::find(types.begin(), types.end(), s.type) == types.end()) {
    e.NotSupported("scoringStrategy.type", s.type, types);
  }
  for (size_t i = 0; i < s.resources.size(); ++i) {
    if (s.resources[i].weight > 0 && s.resources[i].weight <= 100) continue;
    e.Invalid(At("scoringStrategy.resources", i) + ".weight", s.resources[i].weight,
              absl::StrCat("resource weight of ", s.resources[i].name, " not in valid range (0, 100]"));
  }
  if (s.type != "RequestedToCapacityRatio") return;
  if (!s.requested_to_capacity_ratio) {
    return e.Required("scoringStrategy.requestedToCapacityRatio",
                      "must be specified when type is RequestedToCapacityRatio");
  }
  // As in 1.29, the path does not contain requestedToCapacityRatio.
  CheckShape(s.requested_to_capacity_ratio->shape, "scoringStrategy.shape", &e);
}

}  // namespace berth::scheduler::configuration
