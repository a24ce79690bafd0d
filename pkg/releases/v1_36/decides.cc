#include "pkg/releases/v1_36/decides.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <glog/logging.h>

#include <algorithm>

#include "pkg/releases/arguments.h"
#include "pkg/releases/v1_29/decides.h"
#include "pkg/scheduler/algorithm/imagelocality/imagelocality.h"
#include "pkg/scheduler/algorithm/interpodaffinity/interpodaffinity.h"
#include "pkg/scheduler/algorithm/nodeaffinity/nodeaffinity.h"
#include "pkg/scheduler/algorithm/nodefeatures/nodefeatures.h"
#include "pkg/scheduler/algorithm/nodename/nodename.h"
#include "pkg/scheduler/algorithm/nodeports/nodeports.h"
#include "pkg/scheduler/algorithm/noderesources/noderesources.h"
#include "pkg/scheduler/algorithm/podspread/podspread.h"
#include "pkg/scheduler/algorithm/resourceclaims/resourceclaims.h"
#include "pkg/scheduler/algorithm/tainttoleration/tainttoleration.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"
#include "pkg/scheduler/configuration/profile.h"
#include "pkg/scheduler/core/node_sampler.h"
#include "pkg/util/status.h"

namespace berth::releases::v1_36 {
namespace {

using namespace scheduler;  // NOLINT: a release is a table of the scheduler's rules
using Rules = scheduler::Release;
using configuration::ExtensionPoint;
using configuration::ResolvedProfile;

// ---- options that no earlier release has ----

noderesources::FitOptions FitFinally(const configuration::NodeResourcesFitArgs& args, int64_t max_score) {
  noderesources::FitOptions out = FitOf(args, max_score);
  out.too_small_is_final = true;
  return out;
}

podspread::TopologySpreadOptions SpreadComparing(const configuration::PodTopologySpreadArgs& args,
                                                 tainttoleration::TolerationRules tolerations) {
  podspread::TopologySpreadOptions out = SpreadOf(args);
  out.tolerations = tolerations;
  return out;
}

// ---- the registry ----

constexpr ClaimRules kClaimRules = {.compares_attributes = true};
constexpr VolumeRules kVolumeRules = {
    .replaces_portworx = true, .attacher_is_driver = true, .reads_allocatable_limits = false};

void RegisterVolumes(const ResolvedProfile& profile, Registry* r) {
  constexpr Traits kTraits = PredicateTraits(kPodVolumes | kPodNamespace, ClusterPart::kVolumes);
  auto filter = [&](std::string_view name, FitPredicateFactory factory) {
    CHECK_EQ(util::Message(r->AddPredicate(name, std::move(factory), kTraits)), "");
  };
  filter("VolumeRestrictions", [](const PluginFactoryArgs& a) {
    return volumes::VolumeRestrictionsSaying(a,
                                             "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod "
                                             "access mode already in-use by another pod");
  });
  const volumes::CsiLimitRules limits = {.missing_claim_rejects = true,
                                         .drivers_may_have_to_be_there = profile.gates.volume_limit_scaling};
  filter("NodeVolumeLimits",
         [limits](const PluginFactoryArgs& a) { return volumes::CsiVolumeLimitsBy(a, kVolumeRules, limits); });
  filter("VolumeBinding", [](const PluginFactoryArgs& a) {
    return volumes::VolumeBindingSaying(a, kClaimRules, "node(s) didn't match PersistentVolume's node affinity");
  });
  filter("VolumeZone", volumes::VolumeZone);
  if (!profile.gates.storage_capacity_scoring) return;
  const auto shape = profile.Args<configuration::VolumeBindingArgs>("VolumeBinding").shape;
  const auto score = [shape](const PluginFactoryArgs& a) {
    return volumes::StorageCapacity(a, kClaimRules, PointsOf(shape, a.max_score));
  };
  CHECK_EQ(util::Message(r->AddPriority("VolumeBinding", score, 1)), "");
}

constexpr uint32_t kAffinityParts = kPodNamespace | kPodLabels | kPodAffinity;
constexpr uint32_t kSpreadParts =
    kPodNamespace | kPodLabels | kPodSpread | kPodNodeSelector | kPodTolerations | kPodController;

void RegisterScores(const ResolvedProfile& profile, Registry* r) {
  auto score = [&](std::string_view name, PriorityFunctionFactory factory, Traits traits, int64_t weight = 1) {
    CHECK_EQ(util::Message(r->AddPriority(name, std::move(factory), weight, traits)), "");
  };
  constexpr Traits kAllocation = PriorityTraits(kPodRequests, ClusterPart::kNodePods, Normalisation::kNone);
  const tainttoleration::TolerationRules tolerations = {.compares = profile.gates.taint_comparison_operators};
  const auto added = AddedOf(profile.Args<configuration::NodeAffinityArgs>("NodeAffinity"));
  const auto fit_args = profile.Args<configuration::NodeResourcesFitArgs>("NodeResourcesFit");
  const auto spread =
      SpreadComparing(profile.Args<configuration::PodTopologySpreadArgs>("PodTopologySpread"), tolerations);
  score(
      "TaintToleration",
      [tolerations](const PluginFactoryArgs& a) { return tainttoleration::TaintTolerationBy(a, tolerations); },
      PriorityTraits(kPodTolerations, ClusterPart::kNode, Normalisation::kMaximumReversed), 3);
  score(
      "NodeAffinity", [added](const PluginFactoryArgs& a) { return nodeaffinity::NodeAffinityScore(a, added); },
      PriorityTraits(kPodNodeSelector, ClusterPart::kNode, Normalisation::kMaximum), 2);
  score(
      "NodeResourcesFit",
      [fit_args](const PluginFactoryArgs& a) { return noderesources::FitScore(a, FitFinally(fit_args, a.max_score)); },
      kAllocation);
  score(
      "PodTopologySpread", [spread](const PluginFactoryArgs& a) { return podspread::TopologySpreadScore(a, spread); },
      PriorityTraits(kSpreadParts, ClusterPart::kDomains, Normalisation::kDomains), 2);
  const auto affinity = AffinityOf(profile.Args<configuration::InterPodAffinityArgs>("InterPodAffinity"));
  score(
      "InterPodAffinity",
      [affinity](const PluginFactoryArgs& a) { return interpodaffinity::PodAffinityScore(a, affinity); },
      PriorityTraits(kAffinityParts, ClusterPart::kDomains, Normalisation::kDomains), 2);
  const auto balanced =
      BalancedOf(profile.Args<configuration::NodeResourcesBalancedAllocationArgs>("NodeResourcesBalancedAllocation"));
  score(
      "NodeResourcesBalancedAllocation",
      [balanced](const PluginFactoryArgs& a) { return noderesources::ImprovedBalance(a, balanced); }, kAllocation);
  score("ImageLocality", imagelocality::SpreadImageLocalityOfAll,
        PriorityTraits(kPodImages, ClusterPart::kNodes, Normalisation::kNone));
}

// Registers what lets pods fit that a rule has rejected. NodeName and a rule that is not listed ask nothing.
void RegisterHints(const ResolvedProfile& profile, Registry* r) {
  const tainttoleration::TolerationRules tolerations = {.compares = profile.gates.taint_comparison_operators};
  const auto fit_args = profile.Args<configuration::NodeResourcesFitArgs>("NodeResourcesFit");
  r->SetHint("NodeUnschedulable", tainttoleration::MadeSchedulable);
  r->SetHint("TaintToleration", tainttoleration::MadeTolerable(tolerations));
  r->SetHint("NodeAffinity",
             nodeaffinity::NodeMadeToMatch(AddedOf(profile.Args<configuration::NodeAffinityArgs>("NodeAffinity"))));
  r->SetHint("NodePorts", nodeports::PortsMadeFree);
  r->SetHint("NodeResourcesFit", noderesources::RoomMade(FitFinally(fit_args, 100)));
  r->SetHint("VolumeRestrictions", volumes::RestrictionsLifted);
  r->SetHint("NodeVolumeLimits", volumes::VolumeRoomMade);
  r->SetHint("VolumeBinding", volumes::ClaimsMadeBindable);
  r->SetHint("VolumeZone", volumes::ZonesMadeToMatch);
  r->SetHint("PodTopologySpread", podspread::SpreadMadePossible);
  r->SetHint("InterPodAffinity", interpodaffinity::AffinityMadePossible);
  r->SetHint("DynamicResources", resourceclaims::ClaimsMadeAvailable);
  r->SetHint("NodeDeclaredFeatures", nodefeatures::FeaturesMadeToMatch);
}

// Registers the rules of release 1.36 with the arguments of a profile. A rule without an argument has its default.
void Register(const ResolvedProfile& profile, Registry* r) {
  auto filter = [&](std::string_view name, FitPredicateFactory factory, Traits traits) {
    CHECK_EQ(util::Message(r->AddPredicate(name, std::move(factory), traits)), "");
  };

  const tainttoleration::TolerationRules tolerations = {.compares = profile.gates.taint_comparison_operators};
  filter(
      "NodeUnschedulable",
      [tolerations](const PluginFactoryArgs& a) { return tainttoleration::NodeUnschedulableBy(a, tolerations); },
      PredicateTraits(kPodTolerations, ClusterPart::kNode));
  // NodeName also reads spec.nodeName, but the incremental scheduler leaves pods with a node name to the reference
  // scheduler.
  filter("NodeName", nodename::NodeName, PredicateTraits(kPodNothing, ClusterPart::kNode));
  filter(
      "TaintToleration",
      [tolerations](const PluginFactoryArgs& a) { return tainttoleration::HasUntoleratedTaints(a, tolerations); },
      PredicateTraits(kPodTolerations, ClusterPart::kNode));
  const auto added = AddedOf(profile.Args<configuration::NodeAffinityArgs>("NodeAffinity"));
  filter(
      "NodeAffinity", [added](const PluginFactoryArgs& a) { return nodeaffinity::NodeAffinityFilter(a, added); },
      PredicateTraits(kPodNodeSelector, ClusterPart::kNode));
  filter("NodePorts", nodeports::PodFitsHostPorts, PredicateTraits(kPodHostPorts, ClusterPart::kNodePods));
  const auto fit_args = profile.Args<configuration::NodeResourcesFitArgs>("NodeResourcesFit");
  filter(
      "NodeResourcesFit",
      [fit_args](const PluginFactoryArgs& a) { return noderesources::Fit(a, FitFinally(fit_args, a.max_score)); },
      PredicateTraits(kPodRequests, ClusterPart::kNodePods));
  RegisterVolumes(profile, r);
  const auto spread =
      SpreadComparing(profile.Args<configuration::PodTopologySpreadArgs>("PodTopologySpread"), tolerations);
  filter(
      "PodTopologySpread", [spread](const PluginFactoryArgs& a) { return podspread::TopologySpreadFilter(a, spread); },
      PredicateTraits(kSpreadParts, ClusterPart::kDomains));
  filter("InterPodAffinity", interpodaffinity::PodAffinityFilter,
         PredicateTraits(kAffinityParts, ClusterPart::kDomains));
  filter("DynamicResources", resourceclaims::ResourceClaims, {});
  filter("NodeDeclaredFeatures", nodefeatures::DeclaredFeatures, PredicateTraits(kPodFeatures, ClusterPart::kNode));
  RegisterScores(profile, r);
  RegisterHints(profile, r);
}

// Returns the default plugins that have an extension point, in their order, which is that of evaluation.
std::vector<std::string_view> DefaultsAt(ExtensionPoint point) {
  std::vector<std::string_view> names;
  for (const auto& plugin : Plugins().DefaultPlugins({})) {
    if (Plugins().Implements(plugin.name, point)) names.push_back(plugin.name);
  }
  return names;
}
std::span<const std::string_view> Filters() {
  static const std::vector<std::string_view> kFilters = DefaultsAt(ExtensionPoint::kFilter);
  return kFilters;
}

void RegisterAlgorithms(Registry* r) {
  Register(ResolvedProfile(), r);
  Registry::Provider provider;
  for (std::string_view name : Filters()) provider.predicates.emplace(name);
  for (std::string_view name : DefaultsAt(ExtensionPoint::kScore)) {
    if (r->priorities().contains(name)) provider.priorities.emplace(name);
  }
  CHECK_EQ(util::Message(r->AddProvider(kDefaultProvider, std::move(provider))), "");
}

// Returns, for example: 0/3 nodes are available: 1 Insufficient cpu, 2 Too many pods. A rejection by PreFilter is given
// once, without a number. Nodes that are left out by name have no reason of their own; only NodeAffinity names nodes.
std::string FitErrorText(const NodeFailures& failures, size_t nodes, const PodRejection* rejection) {
  std::string text = absl::StrCat("0/", nodes, " nodes are available:");
  if (rejection != nullptr) return absl::StrCat(text, " ", rejection->reason.text.string(), ".");
  std::vector<std::string> reasons = failures.CountedReasons();
  if (nodes > failures.size()) {
    reasons.push_back(absl::StrCat(nodes - failures.size(), " node(s) didn't satisfy plugin(s) [NodeAffinity]"));
    std::sort(reasons.begin(), reasons.end());
  }
  return reasons.empty() ? text : absl::StrCat(text, " ", absl::StrJoin(reasons, ", "), ".");
}

// Returns the text of an error in PreFilter (kPrepare) or Filter.
std::string ErrorText(Rules::Step step, const api::Pod&, std::string_view predicate, std::string_view error) {
  if (step == Rules::Step::kScore) return std::string(error);  // scores have complete texts
  if (step == Rules::Step::kPrepare) {
    return absl::StrCat("running PreFilter plugin ", api::GoQuoted(predicate), ": ", util::ToAbsl(error));
  }
  return absl::StrCat("running ", api::GoQuoted(predicate), " filter plugin: ", util::ToAbsl(error));
}

const UnpreparedPlugins& Unprepared() {
  static constexpr UnpreparedPlugins::Text kFilters[] = {
      {"NodePorts", "reading \"PreFilterNodePorts\" from cycleState: not found"},
      {"NodeResourcesFit", "error reading \"PreFilterNodeResourcesFit\" from cycleState: not found"},
      {"VolumeRestrictions", "cannot read \"PreFilterVolumeRestrictions\" from cycleState"},
      {"VolumeBinding", "not found"},
      {"PodTopologySpread", "reading \"PreFilterPodTopologySpread\" from cycleState: not found"},
      {"InterPodAffinity", "reading \"PreFilterInterPodAffinity\" from cycleState: not found"},
  };
  static constexpr std::string_view kOtherPreFilters[] = {"NodeAffinity", "VolumeZone", "DynamicResources"};
  static constexpr UnpreparedPlugins::Text kScores[] = {
      {"TaintToleration",
       "running Score plugins: plugin \"TaintToleration\" failed with: failed to read \"PreScoreTaintToleration\" from "
       "cycleState: not found"},
      {"PodTopologySpread",
       "running Score plugins: plugin \"PodTopologySpread\" failed with: error reading \"PreScorePodTopologySpread\" "
       "from "
       "cycleState: not found"},
      {"InterPodAffinity",
       "running Score plugins: plugin \"InterPodAffinity\" failed with: failed to read \"PreScoreInterPodAffinity\" "
       "from "
       "cycleState: not found"},
  };
  static constexpr std::string_view kFailingPreScores[] = {"NodeAffinity", "PodTopologySpread"};
  static constexpr UnpreparedPlugins kUnprepared = {kFilters, kOtherPreFilters, kScores, kFailingPreScores};
  return kUnprepared;
}

// Nodes are looked at in the order of the tree, from a start that moves on.
constexpr SamplingRules kSampling = {.walk = SamplingRules::Walk::kRotatingStart,
                                     .nodes_to_find = AdaptiveShareOfNodes,
                                     .default_percentage = 0,
                                     .one_without_scores = true};

}  // namespace

const Rules& Decides() {
  static const Rules kRelease = {
      .version = {36},
      .max_score = 100,
      .register_algorithms = RegisterAlgorithms,
      .register_plugins = Register,
      .plugins = Plugins,
      .unprepared = &Unprepared(),
      .predicate_ordering = Filters(),
      .describe_template = DescribeWithPodLevel,
      .fit_error_text = FitErrorText,
      .gates = Gates(),
      .gates_without_effect = GatesWithoutEffect(),
      .refuses_unknown_gates = true,
      .checks_claims_first = false,
      .tries_nominated_node_first = true,
      .reports_first_error_only = true,
      .error_text = ErrorText,
      .wakes = RejectionWakes(),
      .cache = {.keeps_tree = true, .zones_by_either_label = true},
      .sampling = &kSampling,
      .claims = kClaimRules,
      .claims_plugin = "DynamicResources",
      .no_claims_text = "no new claims to deallocate",
      .batches = true,
      .preemption = PreemptionStyle::kByImportance,
      .volume_rules = kVolumeRules,
  };
  return kRelease;
}

}  // namespace berth::releases::v1_36
