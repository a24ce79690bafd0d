// The arguments of the in-tree plugins: what the pluginConfig of a profile may contain (kubescheduler.config.k8s.io/v1
// and v1beta3, Kubernetes 1.29.14; v1beta1, Kubernetes 1.19.16).
//
// These are plain data. Every type starts with the values that apply if a document does not mention it. A field is
// optional if the API distinguishes absence from a default. fields.h lists the members under their names in a file,
// decode.h reads them, and validation.h checks them.
#pragma once
#include <absl/time/time.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace berth::scheduler::configuration {

struct Gates;

// A resource and its weight in a score.
struct ResourceSpec {
  std::string name;
  int64_t weight = 0;  // 1..100; 0 and absent become 1
  friend bool operator==(const ResourceSpec&, const ResourceSpec&) = default;
};

// A point of the broken line that converts a utilization to a score.
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

// Node affinity as it is in the file. The plugin converts it to selectors.
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
  std::optional<NodeAffinity> added_affinity;  // applies to every pod of the profile, in addition to the pod's own
};

struct NodeResourcesBalancedAllocationArgs {
  std::vector<ResourceSpec> resources = {{"cpu", 1}, {"memory", 1}};  // in the order of summation; weights are 1
};

struct ScoringStrategy {
  std::string type;  // LeastAllocated, MostAllocated or RequestedToCapacityRatio
  std::vector<ResourceSpec> resources;
  std::optional<RequestedToCapacityRatioParam> requested_to_capacity_ratio;
};

struct NodeResourcesFitArgs {
  std::vector<std::string> ignored_resources;        // extended resources that Filter ignores
  std::vector<std::string> ignored_resource_groups;  // the same for all names "GROUP/..."
  // Not empty after decoding.
  std::optional<ScoringStrategy> scoring_strategy = ScoringStrategy{"LeastAllocated", {{"cpu", 1}, {"memory", 1}}, {}};
};

// A constraint for pods that have none. Its selector is derived from the pod's services and owners.
struct TopologySpreadConstraint {
  int32_t max_skew = 0;
  std::string topology_key;
  std::string when_unsatisfiable;   // DoNotSchedule or ScheduleAnyway
  bool has_label_selector = false;  // true is an error
  std::optional<int32_t> min_domains;
  std::optional<std::string> node_affinity_policy, node_taints_policy;  // Honor or Ignore
  std::vector<std::string> match_label_keys;
};

struct PodTopologySpreadArgs {
  std::vector<TopologySpreadConstraint> default_constraints;  // only with defaulting_type List
  std::string defaulting_type = "System";                     // System or List
};

struct VolumeBindingArgs {
  int64_t bind_timeout_seconds = 600;
  std::vector<UtilizationShapePoint> shape;  // only with the gate VolumeCapacityPriority or StorageCapacityScoring
};

// The arguments of plugins that v1beta1 has and later versions do not.
struct NodeResourcesLeastAllocatedArgs {
  std::vector<ResourceSpec> resources = {{"cpu", 1}, {"memory", 1}};
};
struct NodeResourcesMostAllocatedArgs {
  std::vector<ResourceSpec> resources = {{"cpu", 1}, {"memory", 1}};
};
struct RequestedToCapacityRatioArgs {
  std::vector<UtilizationShapePoint> shape;                           // at least one point
  std::vector<ResourceSpec> resources = {{"cpu", 1}, {"memory", 1}};  // if empty, every node scores 0
};
struct NodeLabelArgs {
  std::vector<std::string> present_labels, absent_labels;  // of nodes that fit
  std::vector<std::string> present_labels_preference, absent_labels_preference;
};
struct ServiceAffinityArgs {
  std::vector<std::string> affinity_labels, anti_affinity_labels_preference;
};
struct DynamicResourcesArgs {
  std::optional<absl::Duration> filter_timeout;   // for the search on one node; 0: unlimited; absent: 10 s
  std::optional<absl::Duration> binding_timeout;  // 1 s and up; absent: 600 s
};
// Returns the shape of VolumeBinding's arguments without one: none without a gate that lets the plugin score.
std::vector<UtilizationShapePoint> DefaultVolumeShape(const Gates& gates);

// The arguments of one plugin of a profile.
struct PluginArgs {
  using Typed = std::variant<std::monostate, DefaultPreemptionArgs, InterPodAffinityArgs, NodeAffinityArgs,
                             NodeResourcesBalancedAllocationArgs, NodeResourcesFitArgs, PodTopologySpreadArgs,
                             VolumeBindingArgs, NodeResourcesLeastAllocatedArgs, NodeResourcesMostAllocatedArgs,
                             RequestedToCapacityRatioArgs, NodeLabelArgs, ServiceAffinityArgs, DynamicResourcesArgs>;
  Typed typed;       // monostate for plugins that are not listed above, such as those of plugin/
  std::string json;  // the args in the file as JSON; empty if it has none

  // Returns the arguments if they are of type T, and otherwise T's defaults.
  template <typename T>
  T Get() const {
    const T* t = std::get_if<T>(&typed);
    return t != nullptr ? *t : T();
  }
};

}  // namespace berth::scheduler::configuration
