#include "pkg/releases/v1_10/decides.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <glog/logging.h>

#include "pkg/scheduler/algorithm/avoidpods/avoidpods.h"
#include "pkg/scheduler/algorithm/general/general.h"
#include "pkg/scheduler/algorithm/imagelocality/imagelocality.h"
#include "pkg/scheduler/algorithm/interpodaffinity/interpodaffinity.h"
#include "pkg/scheduler/algorithm/nodeaffinity/nodeaffinity.h"
#include "pkg/scheduler/algorithm/nodename/nodename.h"
#include "pkg/scheduler/algorithm/nodeports/nodeports.h"
#include "pkg/scheduler/algorithm/noderesources/noderesources.h"
#include "pkg/scheduler/algorithm/noderesources/requested_to_capacity_ratio.h"
#include "pkg/scheduler/algorithm/nodestatus/nodestatus.h"
#include "pkg/scheduler/algorithm/podspread/podspread.h"
#include "pkg/scheduler/algorithm/tainttoleration/tainttoleration.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"
#include "pkg/util/status.h"

namespace berth::releases::v1_10 {
namespace {

using namespace scheduler;  // NOLINT: a release is a table of the scheduler's rules
using Rules = scheduler::Release;

// Source of the key sets and names: pkg/scheduler/algorithmprovider/defaults/defaults.go (1.10).
std::set<std::string> DefaultPredicates() {
  return {"NoVolumeZoneConflict",  "MaxEBSVolumeCount",  "MaxGCEPDVolumeCount",    "MaxAzureDiskVolumeCount",
          "MatchInterPodAffinity", "NoDiskConflict",     "GeneralPredicates",      "CheckNodeMemoryPressure",
          "CheckNodeDiskPressure", "CheckNodeCondition", "PodToleratesNodeTaints", "CheckVolumeBinding"};
}

std::set<std::string> DefaultPriorities() {
  return {"SelectorSpreadPriority",     "InterPodAffinityPriority",    "LeastRequestedPriority",
          "BalancedResourceAllocation", "NodePreferAvoidPodsPriority", "NodeAffinityPriority",
          "TaintTolerationPriority"};
}

// NOLINT(readability-function-size): a table of rules.
void RegisterAlgorithms(Registry* r) {
  auto predicate = [&](std::string_view name, FitPredicateFactory factory, Traits traits, bool mandatory = false) {
    CHECK_EQ(util::Message(r->AddPredicate(name, std::move(factory), traits, mandatory)), "");
  };
  auto priority = [&](std::string_view name, PriorityFunctionFactory factory, Traits traits, int64_t weight = 1) {
    CHECK_EQ(util::Message(r->AddPriority(name, std::move(factory), weight, traits)), "");
  };
  constexpr Traits kNodeObject = PredicateTraits(kPodNothing, ClusterPart::kNode);
  constexpr Traits kPorts = PredicateTraits(kPodHostPorts, ClusterPart::kNodePods);
  constexpr Traits kVolumeRule = PredicateTraits(kPodNamespace | kPodVolumes, ClusterPart::kVolumes);
  constexpr Traits kAllocation = PriorityTraits(kPodRequests, ClusterPart::kNodePods, Normalisation::kNone);
  constexpr Traits kSpreading =
      PriorityTraits(kPodNamespace | kPodLabels, ClusterPart::kDomains, Normalisation::kDomains);

  predicate("CheckNodeCondition", nodestatus::CheckNodeCondition, kNodeObject, /*mandatory=*/true);
  CHECK_EQ(util::Message(
               r->AddCompositePredicate("GeneralPredicates", general::GeneralPredicates,
                                        {"PodFitsResources", "HostName", "PodFitsHostPorts", "MatchNodeSelector"})),
           "");
  // HostName also reads spec.nodeName, but the incremental scheduler leaves pods with a node name to the reference
  // scheduler.
  predicate("HostName", nodename::HostName, kNodeObject);
  predicate("PodFitsHostPorts", nodeports::PodFitsHostPorts, kPorts);
  predicate("PodFitsPorts", nodeports::PodFitsHostPorts, kPorts);  // its name in 1.0
  predicate("MatchNodeSelector", nodeaffinity::MatchNodeSelector,
            PredicateTraits(kPodNodeSelector, ClusterPart::kNode));
  predicate("PodFitsResources", noderesources::PodFitsResources, PredicateTraits(kPodRequests, ClusterPart::kNodePods));
  predicate("NoDiskConflict", volumes::NoDiskConflict, kVolumeRule);
  predicate("PodToleratesNodeTaints", tainttoleration::PodToleratesNodeTaints,
            PredicateTraits(kPodTolerations, ClusterPart::kNode));
  using volumes::CloudDisk;
  predicate(
      "MaxEBSVolumeCount", [](const PluginFactoryArgs& a) { return volumes::MaxPdVolumeCount(CloudDisk::kEbs, a); },
      kVolumeRule);
  predicate(
      "MaxGCEPDVolumeCount", [](const PluginFactoryArgs& a) { return volumes::MaxPdVolumeCount(CloudDisk::kGcePd, a); },
      kVolumeRule);
  predicate(
      "MaxAzureDiskVolumeCount",
      [](const PluginFactoryArgs& a) { return volumes::MaxPdVolumeCount(CloudDisk::kAzure, a); }, kVolumeRule);
  predicate("CheckVolumeBinding", volumes::CheckVolumeBinding, kVolumeRule);
  predicate("NoVolumeZoneConflict", volumes::NoVolumeZoneConflict, kVolumeRule);
  predicate("CheckNodeMemoryPressure", nodestatus::CheckNodeMemoryPressure,
            PredicateTraits(kPodQos, ClusterPart::kNode));
  predicate("CheckNodeDiskPressure", nodestatus::CheckNodeDiskPressure, kNodeObject);
  predicate("MatchInterPodAffinity", interpodaffinity::MatchInterPodAffinity,
            PredicateTraits(kPodNamespace | kPodLabels | kPodAffinity, ClusterPart::kDomains));

  // Names that Policies of later releases use. No provider of 1.10 has them.
  predicate("CheckNodePIDPressure", nodestatus::CheckNodePidPressure, kNodeObject);
  predicate("CheckNodeUnschedulable", tainttoleration::CheckNodeUnschedulable,
            PredicateTraits(kPodTolerations, ClusterPart::kNode));
  predicate("MaxCSIVolumeCountPred", volumes::CsiVolumeLimits, kVolumeRule);
  predicate(
      "MaxCinderVolumeCount",
      [](const PluginFactoryArgs& a) {
        return volumes::InTreeVolumeLimits(a, *volumes::FindInTreeLimit("CinderLimits"));
      },
      kVolumeRule);
  constexpr uint32_t kSpreadParts =
      kPodNamespace | kPodLabels | kPodSpread | kPodNodeSelector | kPodTolerations | kPodController;
  predicate(
      "EvenPodsSpread", [](const PluginFactoryArgs& a) { return podspread::TopologySpreadFilter(a, {}); },
      PredicateTraits(kSpreadParts, ClusterPart::kDomains));
  priority(
      "EvenPodsSpreadPriority", [](const PluginFactoryArgs& a) { return podspread::TopologySpreadScore(a, {}); },
      PriorityTraits(kSpreadParts, ClusterPart::kDomains, Normalisation::kDomains));
  priority(
      "RequestedToCapacityRatioPriority",
      [](const PluginFactoryArgs& a) { return noderesources::RequestedToCapacityRatio(a, {}); }, kAllocation);

  priority("SelectorSpreadPriority", podspread::SelectorSpread, kSpreading);
  priority("ServiceSpreadingPriority", podspread::SelectorSpread, kSpreading);  // its name in 1.0
  priority("InterPodAffinityPriority", interpodaffinity::InterPodAffinity,
           PriorityTraits(kPodNamespace | kPodLabels | kPodAffinity, ClusterPart::kDomains, Normalisation::kDomains));
  priority("LeastRequestedPriority", noderesources::LeastRequested, kAllocation);
  priority("MostRequestedPriority", noderesources::MostRequested, kAllocation);
  priority("BalancedResourceAllocation", noderesources::BalancedResourceAllocation, kAllocation);
  priority("NodePreferAvoidPodsPriority", avoidpods::NodePreferAvoidPods,
           PriorityTraits(kPodController, ClusterPart::kNode, Normalisation::kNone), 10000);
  priority("NodeAffinityPriority", nodeaffinity::NodeAffinity,
           PriorityTraits(kPodNodeSelector, ClusterPart::kNode, Normalisation::kMaximum));
  priority("TaintTolerationPriority", tainttoleration::TaintToleration,
           PriorityTraits(kPodTolerations, ClusterPart::kNode, Normalisation::kMaximumReversed));
  priority("ImageLocalityPriority", imagelocality::ImageLocality,
           PriorityTraits(kPodImages, ClusterPart::kNode, Normalisation::kNone));
  priority("EqualPriority", general::Equal, PriorityTraits(kPodNothing, ClusterPart::kNode, Normalisation::kNone));

  std::set<std::string> autoscaler = DefaultPriorities();
  autoscaler.erase("LeastRequestedPriority");
  autoscaler.insert("MostRequestedPriority");
  CHECK_EQ(util::Message(r->AddProvider(scheduler::kDefaultProvider, {DefaultPredicates(), DefaultPriorities()})), "");
  CHECK_EQ(util::Message(r->AddProvider(scheduler::kClusterAutoscalerProvider, {DefaultPredicates(), autoscaler})), "");
}

// Returns, for example: 0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable.
std::string FitErrorText(const NodeFailures& failures, size_t nodes, const PodRejection*) {
  return absl::StrCat("0/", nodes, " nodes are available: ", absl::StrJoin(failures.CountedReasons(), ", "), ".");
}

// The order of evaluation. Source: predicatesOrdering in pkg/scheduler/algorithm/predicates/predicates.go (1.10), with
// the predicates of later releases where those have them. Some names are not registered.
constexpr std::string_view kOrdering[] = {"CheckNodeCondition",     "CheckNodeUnschedulable",
                                          "GeneralPredicates",      "HostName",
                                          "PodFitsHostPorts",       "MatchNodeSelector",
                                          "PodFitsResources",       "NoDiskConflict",
                                          "PodToleratesNodeTaints", "PodToleratesNodeNoExecuteTaints",
                                          "CheckNodeLabelPresence", "CheckServiceAffinity",
                                          "MaxEBSVolumeCount",      "MaxGCEPDVolumeCount",
                                          "MaxCSIVolumeCountPred",  "MaxAzureDiskVolumeCount",
                                          "MaxCinderVolumeCount",   "CheckVolumeBinding",
                                          "NoVolumeZoneConflict",   "CheckNodeMemoryPressure",
                                          "CheckNodePIDPressure",   "CheckNodeDiskPressure",
                                          "EvenPodsSpread",         "MatchInterPodAffinity"};

void ApplyTaintNodesByCondition(Registry* r) {
  r->RemovePredicate("CheckNodeCondition");
  r->RemovePredicateKeyEverywhere("CheckNodeCondition");
  r->MakeMandatory("PodToleratesNodeTaints");
  r->InsertPredicateKeyEverywhere("PodToleratesNodeTaints");
}

// Source: ApplyFeatureGates in pkg/scheduler/algorithmprovider/defaults/defaults.go (1.10).
void ApplyGates(const SchedulerGates& gates, Registry* r) {
  if (gates.taint_nodes_by_condition) ApplyTaintNodesByCondition(r);
  if (!gates.resource_limits_priority_function) return;
  CHECK_EQ(util::Message(r->AddPriority("ResourceLimitsPriority", noderesources::ResourceLimits, 1,
                                        PriorityTraits(kPodLimits, ClusterPart::kNode, Normalisation::kNone))),
           "");
}

}  // namespace

const Rules& Decides() {
  static const Rules kRelease = {
      .version = {10},
      .max_score = 10,
      .register_algorithms = RegisterAlgorithms,
      .apply_gates = ApplyGates,
      .has_policies = true,
      .predicate_ordering = kOrdering,
      .describe_template = DescribeTemplate,
      .fit_error_text = FitErrorText,
      .gates = Gates(),
      .checks_claims_first = true,
      .claims = {.lists_by_specification = true},
      .by_importance = {.asks_extenders = false},  // but whether they accept the pod on the node
  };
  return kRelease;
}

}  // namespace berth::releases::v1_10
