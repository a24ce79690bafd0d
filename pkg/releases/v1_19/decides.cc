#include "pkg/releases/v1_19/decides.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <glog/logging.h>

#include <algorithm>

#include "pkg/scheduler/algorithm/avoidpods/avoidpods.h"
#include "pkg/scheduler/algorithm/imagelocality/imagelocality.h"
#include "pkg/scheduler/algorithm/interpodaffinity/interpodaffinity.h"
#include "pkg/scheduler/algorithm/nodeaffinity/nodeaffinity.h"
#include "pkg/scheduler/algorithm/nodelabel/nodelabel.h"
#include "pkg/scheduler/algorithm/nodename/nodename.h"
#include "pkg/scheduler/algorithm/nodeports/nodeports.h"
#include "pkg/scheduler/algorithm/noderesources/noderesources.h"
#include "pkg/scheduler/algorithm/podspread/podspread.h"
#include "pkg/scheduler/algorithm/serviceaffinity/serviceaffinity.h"
#include "pkg/scheduler/algorithm/tainttoleration/tainttoleration.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"
#include "pkg/scheduler/configuration/profile.h"
#include "pkg/scheduler/core/node_sampler.h"
#include "pkg/util/go_text.h"
#include "pkg/util/status.h"

namespace berth::releases::v1_19 {
namespace {

using namespace scheduler;  // NOLINT: a release is a table of the scheduler's rules
using Rules = scheduler::Release;
using configuration::ExtensionPoint;
using configuration::ResolvedProfile;

// The gates CSIMigrationAWS and its like, CSIStorageCapacity and GenericEphemeralVolume are off.
constexpr VolumeRules kVolumeRules = {
    .drivers_replace_in_tree = false, .counts_attachments = false, .reads_capacities = false};

// ---- conversion of arguments from the configuration's types to those of the rules ----

std::vector<Symbol> SymbolsOf(const std::vector<std::string>& texts) {
  return std::vector<Symbol>(texts.begin(), texts.end());
}

using Strategy = noderesources::FitOptions::Strategy;
noderesources::FitOptions Allocated(Strategy strategy, const std::vector<configuration::ResourceSpec>& resources) {
  noderesources::FitOptions out;
  out.strategy = strategy;
  out.resources.clear();
  for (const auto& r : resources) out.resources.push_back({r.name, r.weight});
  out.every_resource_counts = out.rounds_utilization_up = true;
  return out;
}
noderesources::FitOptions RatioOf(const configuration::RequestedToCapacityRatioArgs& args, int64_t max_score) {
  noderesources::FitOptions out = Allocated(Strategy::kRequestedToCapacityRatio, args.resources);
  // The points of a configuration have scores from 0 to 10.
  for (const auto& p : args.shape) out.shape.emplace_back(p.utilization, p.score * max_score / 10);
  // A profile without points does not start, but its plugins are registered before that is known.
  if (out.shape.empty()) out.shape = {{0, 0}};
  return out;
}

podspread::TopologySpreadOptions SpreadOf(const configuration::PodTopologySpreadArgs& args) {
  using Action = api::TopologySpreadConstraint::Action;
  podspread::TopologySpreadOptions out;
  out.default_selector = podspread::SelectorOfServicesAndControllers;
  out.skips_pods = out.rounds_scores = false;
  out.counts_all_nodes = out.empty_selector_counts = true;
  for (const auto& d : args.default_constraints) {
    api::TopologySpreadConstraint& c = out.defaults.emplace_back();
    c.topology_key = Symbol(d.topology_key);
    c.max_skew = d.max_skew;
    c.action = d.when_unsatisfiable == "DoNotSchedule" ? Action::kDoNotSchedule : Action::kScheduleAnyway;
  }
  return out;
}

// ---- the registry ----

constexpr Traits kAllocation = PriorityTraits(kPodRequests, ClusterPart::kNodePods, Normalisation::kNone);
constexpr Traits kNodeObject = PredicateTraits(kPodNothing, ClusterPart::kNode);
constexpr uint32_t kAffinityParts = kPodNamespace | kPodLabels | kPodAffinity;
constexpr uint32_t kSpreadParts = kPodNamespace | kPodLabels | kPodSpread | kPodNodeSelector;

void Filter(Registry* r, std::string_view name, FitPredicateFactory factory, Traits traits) {
  CHECK_EQ(util::Message(r->AddPredicate(name, std::move(factory), traits)), "");
}
void Score(Registry* r, std::string_view name, PriorityFunctionFactory factory, Traits traits) {
  CHECK_EQ(util::Message(r->AddPriority(name, std::move(factory), 1, traits)), "");
}

void RegisterVolumes(Registry* r) {
  constexpr Traits kTraits = PredicateTraits(kPodVolumes | kPodNamespace, ClusterPart::kVolumes);
  Filter(r, "VolumeRestrictions", volumes::NoDiskConflict, kTraits);
  for (std::string_view name : {"EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits"}) {
    const volumes::InTreeLimit& limit = *volumes::FindInTreeLimit(name);
    Filter(
        r, name, [&limit](const PluginFactoryArgs& a) { return volumes::InTreeVolumeLimits(a, limit, kVolumeRules); },
        kTraits);
  }
  Filter(
      r, "NodeVolumeLimits", [](const PluginFactoryArgs& a) { return volumes::CsiVolumeLimitsBy(a, kVolumeRules); },
      kTraits);
  Filter(r, "VolumeBinding", volumes::VolumeBindingOfUnboundClaims, kTraits);
  Filter(r, "VolumeZone", volumes::VolumeZoneBySameLabel, kTraits);
}

void RegisterFilters(const ResolvedProfile& profile, Registry* r) {
  Filter(r, "NodeUnschedulable", tainttoleration::NodeUnschedulable,
         PredicateTraits(kPodTolerations, ClusterPart::kNode));
  const auto fit = profile.Args<configuration::NodeResourcesFitArgs>("NodeResourcesFit");
  Filter(
      r, "NodeResourcesFit",
      [fit](const PluginFactoryArgs& a) {
        return noderesources::FitEveryResource(a, fit.ignored_resources, fit.ignored_resource_groups);
      },
      PredicateTraits(kPodRequests, ClusterPart::kNodePods));
  // NodeName also reads spec.nodeName, but the incremental scheduler leaves pods with a node name to the reference
  // scheduler.
  Filter(r, "NodeName", nodename::HostName, kNodeObject);
  Filter(r, "NodePorts", nodeports::PodFitsHostPorts, PredicateTraits(kPodHostPorts, ClusterPart::kNodePods));
  Filter(r, "NodeAffinity", nodeaffinity::RequiredNodeAffinity, PredicateTraits(kPodNodeSelector, ClusterPart::kNode));
  Filter(r, "TaintToleration", tainttoleration::TaintsNotTolerated,
         PredicateTraits(kPodTolerations, ClusterPart::kNode));
  RegisterVolumes(r);
  const auto spread = SpreadOf(profile.Args<configuration::PodTopologySpreadArgs>("PodTopologySpread"));
  Filter(
      r, "PodTopologySpread",
      [spread](const PluginFactoryArgs& a) { return podspread::TopologySpreadFilter(a, spread); },
      PredicateTraits(kSpreadParts, ClusterPart::kDomains));
  Filter(
      r, "InterPodAffinity",
      [](const PluginFactoryArgs& a) {
        return interpodaffinity::PodAffinityFilterBy(a, {.skips_pods = false, .gives_general_reason = true});
      },
      PredicateTraits(kAffinityParts, ClusterPart::kDomains));
  const auto labels = profile.Args<configuration::NodeLabelArgs>("NodeLabel");
  Filter(
      r, "NodeLabel",
      [labels](const PluginFactoryArgs& a) {
        return nodelabel::NodeLabels(a, SymbolsOf(labels.present_labels), SymbolsOf(labels.absent_labels));
      },
      kNodeObject);
  const auto services = profile.Args<configuration::ServiceAffinityArgs>("ServiceAffinity");
  Filter(
      r, "ServiceAffinity",
      [services](const PluginFactoryArgs& a) {
        return serviceaffinity::ServiceAffinityToFirstListed(a, SymbolsOf(services.affinity_labels));
      },
      PredicateTraits(kPodNamespace | kPodLabels | kPodNodeSelector, ClusterPart::kDomains));
}

void RegisterAllocationScores(const ResolvedProfile& profile, Registry* r) {
  Score(r, "NodeResourcesBalancedAllocation", noderesources::BalancedResourceAllocation, kAllocation);
  auto score = [&](std::string_view name, noderesources::FitOptions options) {
    Score(
        r, name, [options](const PluginFactoryArgs& a) { return noderesources::FitScore(a, options); }, kAllocation);
  };
  const auto least = profile.Args<configuration::NodeResourcesLeastAllocatedArgs>("NodeResourcesLeastAllocated");
  score("NodeResourcesLeastAllocated", Allocated(Strategy::kLeastAllocated, least.resources));
  const auto most = profile.Args<configuration::NodeResourcesMostAllocatedArgs>("NodeResourcesMostAllocated");
  score("NodeResourcesMostAllocated", Allocated(Strategy::kMostAllocated, most.resources));
  const auto ratio = profile.Args<configuration::RequestedToCapacityRatioArgs>("RequestedToCapacityRatio");
  Score(
      r, "RequestedToCapacityRatio",
      [ratio](const PluginFactoryArgs& a) { return noderesources::FitScore(a, RatioOf(ratio, a.max_score)); },
      kAllocation);
}

void RegisterScores(const ResolvedProfile& profile, Registry* r) {
  RegisterAllocationScores(profile, r);
  Score(r, "ImageLocality", imagelocality::RememberedSpreadImageLocality,
        PriorityTraits(kPodImages, ClusterPart::kNodes, Normalisation::kNone));
  const auto affinity = profile.Args<configuration::InterPodAffinityArgs>("InterPodAffinity");
  Score(
      r, "InterPodAffinity",
      [affinity](const PluginFactoryArgs& a) {
        return interpodaffinity::PodAffinityScore(
            a, {.hard_weight = affinity.hard_pod_affinity_weight, .scale_has_zero = true});
      },
      PriorityTraits(kAffinityParts, ClusterPart::kDomains, Normalisation::kDomains));
  Score(r, "NodeAffinity", nodeaffinity::PreferredNodeLabels,
        PriorityTraits(kPodNodeSelector, ClusterPart::kNode, Normalisation::kMaximum));
  Score(r, "NodePreferAvoidPods", avoidpods::NodePreferAvoidPods,
        PriorityTraits(kPodController, ClusterPart::kNode, Normalisation::kNone));
  const auto spread = SpreadOf(profile.Args<configuration::PodTopologySpreadArgs>("PodTopologySpread"));
  Score(
      r, "PodTopologySpread",
      [spread](const PluginFactoryArgs& a) { return podspread::TopologySpreadScore(a, spread); },
      PriorityTraits(kSpreadParts, ClusterPart::kDomains, Normalisation::kDomains));
  Score(r, "TaintToleration", tainttoleration::TaintToleration,
        PriorityTraits(kPodTolerations, ClusterPart::kNode, Normalisation::kMaximumReversed));
  Score(r, "SelectorSpread", podspread::SelectorSpreadOfUnconstrained,
        PriorityTraits(kPodNamespace | kPodLabels | kPodSpread, ClusterPart::kDomains, Normalisation::kDomains));
  const auto labels = profile.Args<configuration::NodeLabelArgs>("NodeLabel");
  Score(
      r, "NodeLabel",
      [labels](const PluginFactoryArgs& a) {
        return nodelabel::NodeLabelsPreference(a, SymbolsOf(labels.present_labels_preference),
                                               SymbolsOf(labels.absent_labels_preference));
      },
      PriorityTraits(kPodNothing, ClusterPart::kNode, Normalisation::kNone));
  const auto services = profile.Args<configuration::ServiceAffinityArgs>("ServiceAffinity");
  Score(
      r, "ServiceAffinity",
      [services](const PluginFactoryArgs& a) {
        return serviceaffinity::ServiceAntiAffinityByLabels(a, SymbolsOf(services.anti_affinity_labels_preference));
      },
      PriorityTraits(kPodNamespace | kPodLabels, ClusterPart::kDomains, Normalisation::kDomains));
}

// Registers the rules of release 1.19 with the arguments of a profile. A rule without an argument has its default.
void Register(const ResolvedProfile& profile, Registry* r) {
  RegisterFilters(profile, r);
  RegisterScores(profile, r);
}

std::span<const std::string_view> FilterOrder() {
  static const std::vector<std::string_view> kOrder = [] {
    std::vector<std::string_view> names;
    for (const auto& p : Plugins().DefaultsAt(ExtensionPoint::kFilter)) names.push_back(p.name);
    return names;
  }();
  return kOrder;
}

// For what lists the rules of a release. Schedulers are made from profiles.
void RegisterAlgorithms(Registry* r) {
  Register(ResolvedProfile(), r);
  configuration::PluginCatalogue catalogue = Plugins();
  for (const std::string& name : catalogue.ProviderNames()) {
    catalogue.UseProvider(name);
    Registry::Provider provider;
    for (const auto& p : catalogue.DefaultsAt(ExtensionPoint::kFilter)) provider.predicates.emplace(p.name);
    for (const auto& p : catalogue.DefaultsAt(ExtensionPoint::kScore)) provider.priorities.emplace(p.name);
    CHECK_EQ(util::Message(r->AddProvider(name, std::move(provider))), "");
  }
}

// Returns, for example: 0/3 nodes are available: 1 Insufficient cpu, 2 Too many pods. A rejection by PreFilter counts
// for every node.
std::string FitErrorText(const NodeFailures& failures, size_t nodes, const PodRejection*) {
  return absl::StrCat("0/", nodes, " nodes are available: ", absl::StrJoin(failures.CountedReasons(), ", "), ".");
}

std::string ErrorText(Rules::Step step, const api::Pod& pod, std::string_view rule, std::string_view error) {
  const std::string quoted = util::GoQuoted(rule), name = util::GoQuoted(pod.meta.name);
  switch (step) {
    case Rules::Step::kPrepare:
      return absl::StrCat("prefilter plugin ", quoted, " failed for pod ", name, ": ", util::ToAbsl(error));
    case Rules::Step::kFilter:
      return absl::StrCat("running ", quoted, " filter plugin for pod ", name, ": ", util::ToAbsl(error));
    case Rules::Step::kScore:
      break;
  }
  return absl::StrCat("error while running score plugin for pod ", name, ": ", util::ToAbsl(error));
}

const UnpreparedPlugins& Unprepared() {
  static constexpr UnpreparedPlugins::Text kFilters[] = {
      {"NodePorts", "error reading \"PreFilterNodePorts\" from cycleState: not found"},
      {"NodeResourcesFit", "error reading \"PreFilterNodeResourcesFit\" from cycleState: not found"},
      {"VolumeBinding", "not found"},
      {"PodTopologySpread", "error reading \"PreFilterPodTopologySpread\" from cycleState: not found"},
      {"InterPodAffinity", "error reading \"PreFilterInterPodAffinity\" from cycleState: not found"},
      {"ServiceAffinity", "error reading \"PreFilterServiceAffinity\" from cycleState: not found", true},
  };
  static constexpr UnpreparedPlugins::Text kScores[] = {
      {"TaintToleration", "Error reading \"PreScoreTaintToleration\" from cycleState: not found"},
      {"PodTopologySpread", "error reading \"PreScorePodTopologySpread\" from cycleState: not found"},
      {"InterPodAffinity", "Error reading \"PreScoreInterPodAffinity\" from cycleState: not found"},
      {"SelectorSpread", "Error reading \"PreScoreSelectorSpread\" from cycleState: not found", true},
  };
  static constexpr UnpreparedPlugins kUnprepared = {kFilters, {}, kScores, {}};
  return kUnprepared;
}

constexpr SamplingRules kSampling = {SamplingRules::Walk::kRotatingStart, AdaptiveShareOfNodes, 0};

}  // namespace

const Rules& Decides() {
  static const Rules kRelease = {
      .version = {19},
      .max_score = 100,
      .register_algorithms = RegisterAlgorithms,
      .register_plugins = Register,
      .plugins = Plugins,
      .has_policies = true,
      .policy_names = PolicyNames,
      .unprepared = &Unprepared(),
      .predicate_ordering = FilterOrder(),
      .describe_template = DescribeTemplateWithOverhead,
      .fit_error_text = FitErrorText,
      .gates = Gates(),
      .gates_without_effect = GatesWithoutEffect(),
      .checks_claims_first = true,
      .reports_first_error_only = true,
      .error_text = ErrorText,
      .wakes = RejectionWakes(),
      .cache = {.keeps_tree = true, .notes_image_spread = true, .zones_by_either_label = true},
      .sampling = &kSampling,
      .least_hard_weight = 0,
      .preemption = PreemptionStyle::kByImportance,
      .by_importance = {.waits_for_any_leaving_pod = true,
                        .violating_victims_first = true,
                        .takes_nodes_without_victims = true,
                        .asks_extenders = false,
                        .says_why_not = false},
      .volume_rules = kVolumeRules,
  };
  return kRelease;
}

}  // namespace berth::releases::v1_19
