// The arguments of release 1.29's in-tree plugins: what a profile's pluginConfig may hold
// (kubescheduler.config.k8s.io/v1 and v1beta3, Kubernetes 1.29.14).
//
// Plain data. Every type begins with the defaults of a document that does not mention it; fields that the API leaves
// out when they are absent are optional. fields.h lists the members by their names in a file, decode.h reads them and
// validation.h says what is wrong with them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace berth::scheduler::configuration {

// A resource and how much it counts in a score.
struct ResourceSpec {
  std::string name;
  int64_t weight = 0;  // 1..100; a weight of 0 or none at all becomes 1
  friend bool operator==(const ResourceSpec&, const ResourceSpec&) = default;
};

// A point of the broken line that turns a utilization into a score.
struct UtilizationShapePoint {
  int32_t utilization = 0;  // percent, 0..100; strictly increasing from point to point
  int32_t score = 0;        // 0..10
  friend bool operator==(const UtilizationShapePoint&, const UtilizationShapePoint&) = default;
};

struct RequestedToCapacityRatioParam {
  std::vector<UtilizationShapePoint> shape;  // at least one point
};

struct DefaultPreemptionArgs {
  int32_t min_candidate_nodes_percentage = 10;  // 0..100
  int32_t min_candidate_nodes_absolute = 100;   // 0 and up; not both 0
};

struct InterPodAffinityArgs {
  int32_t hard_pod_affinity_weight = 1;  // 0..100
  bool ignore_preferred_terms_of_existing_pods = false;
};

// Node affinity as it stands in the file, not yet decided: the plugin turns it into selectors.
struct NodeSelectorRequirement {
  std::string key;
  std::string op;  // In, NotIn, Exists, DoesNotExist, Gt, Lt
  std::vector<std::string> values;
};
struct NodeSelectorTerm {
  std::vector<NodeSelectorRequirement> match_expressions;
  std::vector<NodeSelectorRequirement> match_fields;
};
struct NodeSelector {
  std::vector<NodeSelectorTerm> node_selector_terms;
};
struct PreferredSchedulingTerm {
  int32_t weight = 0;
  NodeSelectorTerm preference;
};
struct NodeAffinity {
  std::optional<NodeSelector> required;  // requiredDuringSchedulingIgnoredDuringExecution
  std::vector<PreferredSchedulingTerm> preferred;
};

struct NodeAffinityArgs {
  std::optional<NodeAffinity> added_affinity;  // applies to every pod of the profile, besides the pod's own
};

struct NodeResourcesBalancedAllocationArgs {
  std::vector<ResourceSpec> resources = {{"cpu", 1}, {"memory", 1}};  // in the order of summation; weights are all 1
};

struct ScoringStrategy {
  std::string type;  // LeastAllocated, MostAllocated or RequestedToCapacityRatio
  std::vector<ResourceSpec> resources;
  std::optional<RequestedToCapacityRatioParam> requested_to_capacity_ratio;
};

struct NodeResourcesFitArgs {
  std::vector<std::string> ignored_resources;        // extended resources that Filter does not look at
  std::vector<std::string> ignored_resource_groups;  // the same for all names "GROUP/..."
  // Always there after decoding.
  std::optional<ScoringStrategy> scoring_strategy = ScoringStrategy{"LeastAllocated", {{"cpu", 1}, {"memory", 1}}, {}};
};

// A constraint for pods without constraints of their own. The selector comes from the pod's services and owners.
struct TopologySpreadConstraint {
  int32_t max_skew = 0;
  std::string topology_key;
  std::string when_unsatisfiable;   // DoNotSchedule or ScheduleAnyway
  bool has_label_selector = false;  // an error: a default constraint must not have one
  std::optional<int32_t> min_domains;
  std::optional<std::string> node_affinity_policy, node_taints_policy;  // Honor or Ignore
  std::vector<std::string> match_label_keys;
};

struct PodTopologySpreadArgs {
  std::vector<TopologySpreadConstraint> default_constraints;  // only with defaulting type List
  std::string defaulting_type = "System";                     // or List
};

struct VolumeBindingArgs {
  int64_t bind_timeout_seconds = 600;
  std::vector<UtilizationShapePoint> shape;  // only with feature gate VolumeCapacityPriority
};

// The arguments of one plugin of a profile.
struct PluginArgs {
  using Typed =
      std::variant<std::monostate, DefaultPreemptionArgs, InterPodAffinityArgs, NodeAffinityArgs,
                   NodeResourcesBalancedAllocationArgs, NodeResourcesFitArgs, PodTopologySpreadArgs, VolumeBindingArgs>;
  Typed typed;       // monostate for a plugin that is not of the list above, such as those of plugin/
  std::string json;  // the args as they stand in the file, as JSON; empty when the file has none

  // Returns the arguments of a known plugin, or its defaults when this holds something else.
  template <typename T>
  T Get() const {
    const T* t = std::get_if<T>(&typed);
    return t != nullptr ? *t : T();
  }
};

}  // namespace berth::scheduler::configuration
