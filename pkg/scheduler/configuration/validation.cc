#include "pkg/scheduler/configuration/validation.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "pkg/api/labels.h"
#include "pkg/api/resource_names.h"
#include "pkg/scheduler/configuration/field_errors.h"
#include "pkg/scheduler/configuration/plugin_sets.h"
#include "pkg/scheduler/configuration/versions.h"

namespace berth::scheduler::configuration {
namespace {

using util::GoQuoted;

std::string At(const std::string& path, size_t i) {
  return absl::StrCat(path, "[", i, "]");
}

// The texts that have changed with releases.
struct Words {
  bool as_json = false;  // how values of structures are shown
  std::string_view queue_sort_differs = "has to match for all profiles";
  std::string_view queue_sort_args_differ{};  // empty: arguments are not compared
  std::string_view shape_not_sorted = "utilization values must be sorted in increasing order";
  std::string_view volume_shape =
      "unexpected field `shape`, remove it or turn on the feature gate VolumeCapacityPriority";
  std::string_view lease_too_short = "LeaseDuration must be greater than RenewDeadline";
  // NodeResourcesFit's: the path of the shape, and whether it is refused with another type.
  std::string_view shape_path = "scoringStrategy.shape";
  bool shape_only_with_its_type = false;
  // Plugins that are refused at an extension point and in pluginConfig, but not at multiPoint.
  std::span<const std::string_view> removed_plugins{};
};
constexpr std::string_view kRemovedPlugins[] = {"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"};
constexpr release::From<Words> kWords[] = {
    {{0}, {}},
    {release::history::kConfigurationInNewWords.since,
     {.as_json = true,
      .queue_sort_differs = "must be the same for all profiles",
      .queue_sort_args_differ = "queueSort must be the same for all profiles",
      .shape_not_sorted = "values must be sorted in increasing order",
      .volume_shape = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring",
      .lease_too_short = "must be greater than `RenewDeadline`",
      .shape_path = "scoringStrategy.requestedToCapacityRatio.shape",
      .shape_only_with_its_type = true,
      .removed_plugins = kRemovedPlugins}},
};

// ---- values in the notation of Go's %#v, or as JSON ----

std::string GoTexts(const std::vector<std::string>& values, bool as_json) {
  std::vector<std::string> quoted;
  for (const std::string& v : values) quoted.push_back(GoQuoted(v));
  if (as_json) return values.empty() ? "null" : absl::StrCat("[", absl::StrJoin(quoted, ","), "]");
  return values.empty() ? "[]string(nil)" : absl::StrCat("[]string{", absl::StrJoin(quoted, ", "), "}");
}

std::string GoPlugins(const std::vector<Plugin>& plugins) {
  std::vector<std::string> texts;
  for (const Plugin& p : plugins) {
    texts.push_back(absl::StrCat("config.Plugin{Name:", GoQuoted(p.name), ", Weight:", p.weight, "}"));
  }
  return texts.empty() ? "[]config.Plugin(nil)" : absl::StrCat("[]config.Plugin{", absl::StrJoin(texts, ", "), "}");
}

std::string JsonPlugins(const std::vector<Plugin>& plugins) {
  std::vector<std::string> texts;
  for (const Plugin& p : plugins)
    texts.push_back(absl::StrCat("{\"Name\":", GoQuoted(p.name), ",\"Weight\":", p.weight, "}"));
  return texts.empty() ? "null" : absl::StrCat("[", absl::StrJoin(texts, ","), "]");
}

std::string GoPluginSet(const PluginSet& s, bool as_json) {
  if (as_json)
    return absl::StrCat("{\"Enabled\":", JsonPlugins(s.enabled), ",\"Disabled\":", JsonPlugins(s.disabled), "}");
  return absl::StrCat("config.PluginSet{Enabled:", GoPlugins(s.enabled), ", Disabled:", GoPlugins(s.disabled), "}");
}

std::string GoShape(const std::vector<UtilizationShapePoint>& shape, bool as_json) {
  std::vector<std::string> texts;
  for (const UtilizationShapePoint& p : shape) {
    if (as_json) {
      texts.push_back(absl::StrCat("{\"Utilization\":", p.utilization, ",\"Score\":", p.score, "}"));
      continue;
    }
    texts.push_back(absl::StrCat("config.UtilizationShapePoint{Utilization:", p.utilization, ", Score:", p.score, "}"));
  }
  if (as_json) return absl::StrCat("[", absl::StrJoin(texts, ","), "]");
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
      e->InvalidRaw(at + ".values", GoTexts(r.values, e->as_json()), "must have one element");
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

void CheckShape(const std::vector<UtilizationShapePoint>& shape, const std::string& path, const Words& words,
                FieldErrors* e) {
  if (shape.empty()) return e->Required(path, "at least one point must be specified");
  for (size_t i = 1; i < shape.size(); ++i) {
    if (shape[i - 1].utilization < shape[i].utilization) continue;
    e->Invalid(At(path, i) + ".utilization", shape[i].utilization, words.shape_not_sorted);
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

void Check(const VolumeBindingArgs& a, const std::string& path, const Words& words, const Gates& gates,
           FieldErrors* e) {
  if (a.bind_timeout_seconds < 0) {
    e->Invalid(path + ".bindTimeoutSeconds", a.bind_timeout_seconds,
               "invalid BindTimeoutSeconds, should not be a negative value");
  }
  if (gates.volume_capacity_priority || gates.storage_capacity_scoring) {
    CheckShape(a.shape, path + ".shape", words, e);
  } else if (!a.shape.empty()) {
    e->InvalidRaw(path + ".shape", GoShape(a.shape, words.as_json), words.volume_shape);
  }
}

void Check(const DynamicResourcesArgs& a, const std::string& path, const Gates& gates, FieldErrors* e) {
  const std::string filter = path + ".filterTimeout", binding = path + ".bindingTimeout";
  if (a.filter_timeout && !gates.dra_filter_timeout) {
    e->Forbidden(filter, "DRASchedulingFilterTimeout feature gate is disabled");
  } else if (a.filter_timeout && *a.filter_timeout < absl::ZeroDuration()) {
    e->Invalid(filter, *a.filter_timeout, "must be zero or positive");
  }
  if (a.binding_timeout && !gates.dra_binding_timeout) {
    e->Forbidden(binding, "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled");
  } else if (a.binding_timeout && *a.binding_timeout < absl::Seconds(1)) {
    e->Invalid(binding, *a.binding_timeout, "must be at least 1 second");
  }
}

// Refuses plugins that the release does not have any more. `version` is that of the file.
class RemovedPlugins {
 public:
  RemovedPlugins(const Words& words, Version version, FieldErrors* e)
      : words_(words),
        text_(absl::StrCat("was invalid in version \"v1\" (KubeSchedulerConfiguration is version ",
                           GoQuoted(ApiVersion(version)), ")")),
        errors_(e) {}
  bool Refuses(const std::string& name, const std::string& path) {
    const auto& removed = words_.removed_plugins;
    if (std::find(removed.begin(), removed.end(), name) == removed.end()) return false;
    errors_->Invalid(path, name, text_);
    return true;
  }
  void Check(const Plugins& plugins, const std::string& path) {
    for (const ExtensionPoint p : ExtensionPoints()) {
      const std::vector<Plugin>& enabled = SetOf(plugins, p).enabled;
      const std::string at = absl::StrCat(path, ".", util::ToAbsl(FieldName(p)), ".enabled");
      for (size_t i = 0; i < enabled.size(); ++i) Refuses(enabled[i].name, At(at, i));
    }
  }

 private:
  const Words& words_;
  const std::string text_;
  FieldErrors* errors_;
};

// ---- everything else ----

void CheckConnectionAndLease(const KubeSchedulerConfiguration& c, const Words& words, FieldErrors* e) {
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
    e->Invalid("leaderElection.leaseDuration", l.renew_deadline, words.lease_too_short);
  }
  if (c.version != Version::kV1Beta1 && l.resource_lock != "leases") {
    e->Invalid("leaderElection.resourceLock", l.resource_lock, "resourceLock value must be \"leases\"");
  }
}

void CheckPercentage(const std::string& path, int32_t percentage, FieldErrors* e) {
  if (percentage < 0 || percentage > 100) e->Invalid(path, percentage, "not in valid range [0-100]");
}

void CheckProfile(const Profile& p, Version version, const Words& words, const std::string& path, const Gates& gates,
                  FieldErrors* e) {
  if (p.scheduler_name.value_or("").empty()) e->Required(path + ".schedulerName", "");
  if (p.percentage_of_nodes_to_score) {
    CheckPercentage(path + ".percentageOfNodesToScore", *p.percentage_of_nodes_to_score, e);
  }
  if (version == Version::kV1Beta1) return;  // arguments are checked when the plugins are created (CheckArgsByPoint)
  RemovedPlugins removed(words, version, e);
  removed.Check(p.plugins, path + ".plugins");
  std::set<std::string> seen;
  for (size_t i = 0; i < p.plugin_config.size(); ++i) {
    const PluginConfig& config = p.plugin_config[i];
    const std::string at = At(path + ".pluginConfig", i), args = at + ".args";
    if (!seen.insert(config.name).second) e->Duplicate(at, config.name);
    if (removed.Refuses(config.name, at)) continue;
    const PluginArgs::Typed& typed = config.args.typed;
    if (auto* a = std::get_if<DefaultPreemptionArgs>(&typed)) Check(*a, args, e);
    if (auto* a = std::get_if<InterPodAffinityArgs>(&typed)) Check(*a, args, e);
    if (auto* a = std::get_if<NodeAffinityArgs>(&typed)) Check(*a, args, e);
    if (auto* a = std::get_if<NodeResourcesBalancedAllocationArgs>(&typed)) Check(*a, args, e);
    if (auto* a = std::get_if<PodTopologySpreadArgs>(&typed)) Check(*a, args, e);
    if (auto* a = std::get_if<VolumeBindingArgs>(&typed)) Check(*a, args, words, gates, e);
    if (auto* a = std::get_if<DynamicResourcesArgs>(&typed)) Check(*a, args, gates, e);
  }
}

// Returns the arguments in a profile's pluginConfig of a plugin as JSON, or null if there are none.
const std::string* ArgsIn(const Profile& profile, const std::string& plugin) {
  const std::string* found = nullptr;
  for (const PluginConfig& config : profile.plugin_config) {
    if (config.name == plugin) found = &config.args.json;
  }
  return found;
}

// All profiles share one queue, so their queueSort plugins must be the same. 1.29 compares what is written, not what
// results from it (bug M-17, kept).
void CheckQueueSort(const std::vector<Profile>& profiles, Version version, const Words& words, FieldErrors* e) {
  const PluginSet& first = profiles[0].plugins.queue_sort;
  if (version != Version::kV1Beta1 && first.enabled.size() > 1) {
    e->Invalid("profiles[0].plugins.queueSort.Enabled", static_cast<int64_t>(first.enabled.size()),
               "only one queue sort plugin can be enabled");
  }
  for (size_t i = 1; i < profiles.size(); ++i) {
    const PluginSet& other = profiles[i].plugins.queue_sort;
    if (other != first) {
      e->InvalidRaw(At("profiles", i) + ".plugins.queueSort", GoPluginSet(other, words.as_json),
                    words.queue_sort_differs);
    }
    if (words.queue_sort_args_differ.empty() || first.enabled.empty()) continue;
    const std::string* const args = ArgsIn(profiles[i], first.enabled[0].name);
    const std::string* const firsts = ArgsIn(profiles[0], first.enabled[0].name);
    if (args == nullptr || (firsts != nullptr && *firsts == *args)) continue;
    e->InvalidRaw(At("profiles", i) + ".pluginConfig.args", args->empty() ? "null" : *args,
                  words.queue_sort_args_differ);
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

void Validate(const KubeSchedulerConfiguration& c, release::Version release, const Gates& gates,
              std::vector<Problem>* problems) {
  const Words& words = release::At(kWords, release);
  FieldErrors e(problems, words.as_json);
  CheckConnectionAndLease(c, words, &e);
  if (c.parallelism <= 0) e.Invalid("parallelism", c.parallelism, "should be an integer value greater than zero");
  std::set<std::string> names;
  for (size_t i = 0; i < c.profiles.size(); ++i) {
    const Profile& p = c.profiles[i];
    CheckProfile(p, c.version, words, At("profiles", i), gates, &e);
    const std::string name = p.scheduler_name.value_or("");
    if (!names.insert(name).second) e.Duplicate(At("profiles", i) + ".schedulerName", name);
  }
  CheckQueueSort(c.profiles, c.version, words, &e);
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

void ValidateExtenders(const std::vector<ExtenderConfig>& extenders, std::vector<Problem>* problems) {
  FieldErrors e(problems, /*as_json=*/false);
  CheckExtenders(extenders, &e);
}

void ValidateNodeResourcesFit(const NodeResourcesFitArgs& a, release::Version release, const std::string& path,
                              const std::string& prefix, std::vector<Problem>* problems) {
  const Words& words = release::At(kWords, release);
  FieldErrors e(problems, words.as_json, path, prefix);
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
  if (s.type != "RequestedToCapacityRatio") {
    if (words.shape_only_with_its_type && s.requested_to_capacity_ratio) {
      e.Forbidden("scoringStrategy.requestedToCapacityRatio", "must be nil when type is not RequestedToCapacityRatio");
    }
    return;
  }
  if (!s.requested_to_capacity_ratio) {
    return e.Required("scoringStrategy.requestedToCapacityRatio",
                      "must be specified when type is RequestedToCapacityRatio");
  }
  CheckShape(s.requested_to_capacity_ratio->shape, std::string(words.shape_path), words, &e);
}

}  // namespace berth::scheduler::configuration
