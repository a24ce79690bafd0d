// What decides in a release of Kubernetes, as a value: all differences between the algorithms of releases, as data
// and small functions. The values stand in pkg/releases. A scheduler is built for one release, and schedulers of
// several releases can live in one process. Rules and the code in core/ never test which release it is.
#pragma once
#include <absl/functional/function_ref.h>
#include <absl/status/status.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "pkg/release/release.h"
#include "pkg/scheduler/algorithm/node_failures.h"
#include "pkg/scheduler/algorithm/serviceaffinity/serviceaffinity.h"
#include "pkg/scheduler/cache/cache.h"
#include "pkg/scheduler/cache/gates.h"
#include "pkg/scheduler/cache/template_info.h"
#include "pkg/scheduler/queue/cluster_event.h"
#include "pkg/scheduler/registry/registry.h"
#include "pkg/scheduler/registry/unprepared_plugins.h"
#include "pkg/scheduler/volumebinder/claim_rules.h"
#include "pkg/util/feature_gates.h"

namespace berth::scheduler {

namespace configuration {
class PluginCatalogue;
struct PolicyNames;
struct ResolvedProfile;
}  // namespace configuration

// The feature gates that change what is registered, and those that rules read.
struct SchedulerGates {
  AlgorithmGates algorithm;
  bool taint_nodes_by_condition = false;
  bool resource_limits_priority_function = false;
};
// Returns the gates as a function says them by name.
SchedulerGates MakeGates(absl::FunctionRef<bool(std::string_view)> on);

// How a release chooses the nodes that a decision looks at, when it does not look at all of them.
struct SamplingRules {
  enum class Walk : uint8_t {
    // 1.13: the walk of the node tree goes on from decision to decision. The node that shows that enough were found is
    // used up (findNodesThatFit).
    kTree,
    // From 1.15 on: the nodes are looked at in order from a start that moves on by those that were looked at. The node
    // that shows that enough were found is not counted among them.
    kRotatingStart,
  };
  Walk walk = Walk::kTree;
  // Returns after how many nodes that fit the search ends. `percentage` is that of the configuration, after defaulting.
  int64_t (*nodes_to_find)(int64_t nodes, int64_t percentage) = nullptr;
  // The percentage where the configuration gives none. 0 and less: see nodes_to_find.
  int64_t default_percentage = 0;
  // Whether the search ends at the first node where nothing scores nodes, whatever the percentage (1.36).
  bool one_without_scores = false;
};

enum class PreemptionStyle : uint8_t {
  kByPosition,    // 1.10: the first victim in the list counts as the most important one (bug B-25, kept)
  kByImportance,  // 1.19, 1.29: victims are ordered by priority and start time, and each one uses up its budgets
};
// How preemption by importance differs between releases. Without other values it is that of 1.29.
struct PreemptionByImportance {
  // Whether a pod waits while any pod of lower priority leaves its nominated node, and not only one that a scheduler
  // has evicted.
  bool waits_for_any_leaving_pod = false;
  // Whether victims that violate a budget stay before the others, so that the first victim of a node need not have the
  // highest priority.
  bool violating_victims_first = false;
  // Whether a node where the pod fits after all is a candidate. One without pods of lower priority is so only if it has
  // changed since the pod was found to fit nowhere.
  bool takes_nodes_without_victims = false;
  bool asks_extenders = true;
  bool says_why_not = true;  // whether Preemption::error says why there is no candidate
};

struct Release {
  release::Version version;  // for tables with since and until
  int64_t max_score = 0;     // the largest score that a priority gives, before it is multiplied by the weight

  // Registers the release's own predicates, priorities and providers.
  void (*register_algorithms)(Registry*) = nullptr;
  // Changes one scheduler's copy of the registry as feature gates demand. Null if no gate does.
  void (*apply_gates)(const SchedulerGates&, Registry*) = nullptr;

  // For a release that is configured by profiles, and null otherwise: registers the plugins with the arguments of a
  // profile, and returns which plugins there are and which are enabled by default.
  void (*register_plugins)(const configuration::ResolvedProfile&, Registry*) = nullptr;
  const configuration::PluginCatalogue& (*plugins)() = nullptr;
  // Whether Policies and algorithm providers configure the release. It may have profiles besides. Then a Policy stands
  // for a profile, which follows from `policy_names`.
  bool has_policies = false;
  const configuration::PolicyNames& (*policy_names)() = nullptr;
  // What its plugins do in a profile that enables only some of their extension points. Not null with plugins.
  const UnpreparedPlugins* unprepared = nullptr;

  // The order in which predicates are evaluated. Others come after these, in ascending order of names (bug B-15
  // of 1.10, fixed).
  std::span<const std::string_view> predicate_ordering{};

  // Fills in what a pod of a template requests: amounts with and without defaults, host ports, QoS class. A cache uses
  // that of one release.
  void (*describe_template)(const api::PodTemplate&, TemplateInfo*) = nullptr;

  // Returns the message for a pod that fits no node, from the failures of the nodes. `nodes` is the number of listed
  // nodes. `rejection` is not null when a rule rejected the pod as a whole before any node was looked at.
  std::string (*fit_error_text)(const NodeFailures& failures, size_t nodes, const PodRejection* rejection) = nullptr;

  // The feature gates and their defaults, sorted by name.
  std::span<const util::FeatureGate> gates{};
  // Those that its scheduler reads and that are accepted here without effect.
  std::span<const std::string_view> gates_without_effect{};
  // Whether only the gates of the release may be named, each as it can be set. Otherwise those of other releases are
  // accepted, too, without effect.
  bool refuses_unknown_gates = false;

  // Whether the pod's claims are checked before any predicate is called (since 1.10: podPassesBasicChecks).
  bool checks_claims_first = false;
  // Whether a pod goes to the node of status.nominatedNodeName if it fits there, without a look at other nodes.
  bool tries_nominated_node_first = false;
  // Whether only the first of several errors in one cycle is reported. Otherwise all are joined.
  bool reports_first_error_only = false;
  // Returns the message for an error of a rule, which occurred when it was prepared for the pod, when a node was
  // filtered or when nodes were scored. If null, the message is the error itself.
  enum class Step : uint8_t { kPrepare, kFilter, kScore };
  std::string (*error_text)(Step step, const api::Pod& pod, std::string_view rule, std::string_view error) = nullptr;
  // Which events wake the pods that a rule has rejected (1.29: EventsToRegister of the plugins).
  Wakes wakes{};
  // The order of nodes, and what else of the cache depends on the release.
  CacheOptions cache{};
  // Null if the release always looks at all nodes.
  const SamplingRules* sampling = nullptr;
  // Which claims the binder of volumes takes for what.
  ClaimRules claims{};
  // Whether claims that name no volume can be provisioned on the node that is chosen (ClaimBinder). Otherwise each
  // needs an existing volume (VolumeBinder).
  bool provisions_claims = false;
  // The priority of the Policy argument serviceAntiAffinity.
  PriorityFunction (*service_anti_affinity)(const PluginFactoryArgs&,
                                            Symbol label) = serviceaffinity::ServiceAntiAffinity;
  // Texts of reasons that evictions cannot help against, besides those that are marked so
  // (FailureReason::unresolvable).
  std::span<const std::string_view> unresolvable_texts{};
  // The plugin that looks for resource claims before preemption and after it (PostFilter), and what it says about a pod
  // without claims. It fails with the error "not found" if a plugin rejected the pod before its own PreFilter was
  // called (bug D-27 of 1.36, kept). Empty if the release has none.
  std::string_view claims_plugin{}, no_claims_text{};
  // Whether a pod may be placed by the totals of the pod before it, if both are alike (core/batch.h).
  bool batches = false;

  // Returns the word that stands for a reason (up to 1.9), or an empty one if the reason is not given. Null if reasons
  // are given in the words of their rules.
  Symbol (*reason_word)(Symbol text) = nullptr;
  // Whether every predicate is called for a node that one has rejected, whatever the Policy says (up to 1.9).
  bool checks_all_predicates = false;
  // Whether a single feasible node is scored like several, and moves the round-robin counter (1.8).
  bool scores_single_node = false;
  // Whether a Policy without one of its lists has none of the rules, rather than those of DefaultProvider (up to 1.9).
  bool absent_lists_are_empty = false;
  // Whether an extender needs a positive weight even if it does not score (1.8).
  bool extenders_need_weight = false;
  // Whether nominated pods count where they are nominated, and budgets in the choice of victims (since 1.9).
  bool counts_nominated = true, counts_budgets = true;
  // Whether an extender is called only for pods that ask for the resources that it manages (since 1.10).
  bool extenders_manage_resources = true;
  // Whether the gate PodPriority orders the queue. Otherwise it is first in, first out, with back-off (1.8).
  bool orders_queue_by_priority = true;
  // Texts of reasons that evictions can help against, although they are marked as unresolvable.
  std::span<const std::string_view> resolvable_texts{};

  // The least hardPodAffinitySymmetricWeight that the release takes.
  int64_t least_hard_weight = 1;
  // How preemption chooses victims and nodes.
  PreemptionStyle preemption = PreemptionStyle::kByPosition;
  PreemptionByImportance by_importance{};
  // What rules and ClaimBinder know of volumes.
  VolumeRules volume_rules{};
};

}  // namespace berth::scheduler
