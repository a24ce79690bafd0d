#include "pkg/releases/v1_13/decides.h"

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
#include "pkg/scheduler/core/node_sampler.h"
#include "pkg/util/status.h"

namespace berth::releases::v1_13 {
namespace {

using namespace scheduler;  // NOLINT: a release is a table of the scheduler's rules
using Rules = scheduler::Release;

// Before feature gates. Source of the key sets and names: pkg/scheduler/algorithmprovider/defaults/defaults.go (1.13).
std::set<std::string> DefaultPredicates() {
  return {"NoVolumeZoneConflict",  "MaxEBSVolumeCount",    "MaxGCEPDVolumeCount",    "MaxAzureDiskVolumeCount",
          "MatchInterPodAffinity", "NoDiskConflict",       "GeneralPredicates",      "CheckNodeMemoryPressure",
          "CheckNodeDiskPressure", "CheckNodeCondition",   "PodToleratesNodeTaints", "CheckVolumeBinding",
          "CheckNodePIDPressure",  "MaxCSIVolumeCountPred"};
}

std::set<std::string> DefaultPriorities() {
  return {"SelectorSpreadPriority",     "InterPodAffinityPriority",    "LeastRequestedPriority",
          "BalancedResourceAllocation", "NodePreferAvoidPodsPriority", "NodeAffinityPriority",
          "TaintTolerationPriority",    "ImageLocalityPriority"};
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
               r->AddCompositePredicate("GeneralPredicates", general::GeneralPredicatesWithFields,
                                        {"PodFitsResources", "HostName", "PodFitsHostPorts", "MatchNodeSelector"})),
           "");
  // HostName also reads spec.nodeName, but the incremental scheduler leaves pods with a node name to the reference
  // scheduler.
  predicate("HostName", nodename::HostName, kNodeObject);
  predicate("PodFitsHostPorts", nodeports::PodFitsHostPorts, kPorts);
  predicate("PodFitsPorts", nodeports::PodFitsHostPorts, kPorts);  // its name in 1.0
  predicate("MatchNodeSelector", nodeaffinity::MatchNodeSelectorWithFields,
            PredicateTraits(kPodNodeSelector, ClusterPart::kNode));
  predicate("PodFitsResources", noderesources::PodFitsResources, PredicateTraits(kPodRequests, ClusterPart::kNodePods));
  predicate("NoDiskConflict", volumes::NoDiskConflict, kVolumeRule);
  predicate("PodToleratesNodeTaints", tainttoleration::PodToleratesNodeTaints,
            PredicateTraits(kPodTolerations, ClusterPart::kNode));
  using volumes::CloudDisk;
  predicate(
      "MaxEBSVolumeCount",
      [](const PluginFactoryArgs& a) { return volumes::MaxPdVolumeCountOfNode(CloudDisk::kEbs, a); }, kVolumeRule);
  predicate(
      "MaxGCEPDVolumeCount",
      [](const PluginFactoryArgs& a) { return volumes::MaxPdVolumeCountOfNode(CloudDisk::kGcePd, a); }, kVolumeRule);
  predicate(
      "MaxAzureDiskVolumeCount",
      [](const PluginFactoryArgs& a) { return volumes::MaxPdVolumeCountOfNode(CloudDisk::kAzure, a); }, kVolumeRule);
  predicate("MaxCSIVolumeCountPred", volumes::MaxCsiVolumeCount, kVolumeRule);
  predicate("CheckVolumeBinding", volumes::CheckVolumeProvisioning, kVolumeRule);
  predicate("NoVolumeZoneConflict", volumes::NoVolumeZoneConflictByClass, kVolumeRule);
  predicate("CheckNodeMemoryPressure", nodestatus::CheckNodeMemoryPressure,
            PredicateTraits(kPodQos, ClusterPart::kNode));
  predicate("CheckNodeDiskPressure", nodestatus::CheckNodeDiskPressure, kNodeObject);
  predicate("CheckNodePIDPressure", nodestatus::CheckNodePidPressure, kNodeObject);
  predicate("MatchInterPodAffinity", interpodaffinity::MatchInterPodAffinityTogether,
            PredicateTraits(kPodNamespace | kPodLabels | kPodAffinity, ClusterPart::kDomains));

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
  priority("NodeAffinityPriority", nodeaffinity::NodeAffinityByLabels,
           PriorityTraits(kPodNodeSelector, ClusterPart::kNode, Normalisation::kMaximum));
  priority("TaintTolerationPriority", tainttoleration::TaintToleration,
           PriorityTraits(kPodTolerations, ClusterPart::kNode, Normalisation::kMaximumReversed));
  priority("ImageLocalityPriority", imagelocality::NotedImageLocality,
           PriorityTraits(kPodImages, ClusterPart::kNodes, Normalisation::kNone));
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

// The order of evaluation. Source: predicatesOrdering in pkg/scheduler/algorithm/predicates/predicates.go (1.13). Some
// names are not registered.
constexpr std::string_view kOrdering[] = {"CheckNodeCondition",      "CheckNodeUnschedulable",
                                          "GeneralPredicates",       "HostName",
                                          "PodFitsHostPorts",        "MatchNodeSelector",
                                          "PodFitsResources",        "NoDiskConflict",
                                          "PodToleratesNodeTaints",  "PodToleratesNodeNoExecuteTaints",
                                          "CheckNodeLabelPresence",  "CheckServiceAffinity",
                                          "MaxEBSVolumeCount",       "MaxGCEPDVolumeCount",
                                          "MaxCSIVolumeCountPred",   "MaxAzureDiskVolumeCount",
                                          "CheckVolumeBinding",      "NoVolumeZoneConflict",
                                          "CheckNodeMemoryPressure", "CheckNodePIDPressure",
                                          "CheckNodeDiskPressure",   "MatchInterPodAffinity"};

// The events that move pods (pkg/scheduler/factory/factory.go and internal/queue, 1.13). With PodPriority nothing backs
// off: a pod that failed is active again as soon as anything has moved since its attempt began.
constexpr Wakes kWakes = [] {
  using enum ClusterEvent::Kind;
  return Wakes{.noticed = EventsOf({kAssignedPodAdd, kAssignedPodUpdate, kAssignedPodDelete, kAssignedPodScaleDown,
                                    kNodeAdd, kNodeBecameSchedulable, kNodeAllocatable, kNodeLabels, kNodeTaints,
                                    kNodeConditions, kPersistentVolumeAdd, kPersistentVolumeUpdate,
                                    kPersistentVolumeClaimAdd, kPersistentVolumeClaimUpdate, kServiceAdd,
                                    kServiceUpdate, kServiceDelete, kStorageClassAdd}),
               .rules = {},
               .queue = {.counts_any_node_change = true, .backs_off = false, .orders_by_last_try = true}};
}();

// What nodesWherePreemptionMightHelp in pkg/scheduler/core/generic_scheduler.go (1.13) adds to the reasons of 1.10.
constexpr std::string_view kUnresolvable[] = {"node(s) didn't match pod affinity rules", "node(s) had memory pressure",
                                              "node(s) had disk pressure", "node(s) had pid pressure",
                                              "node(s) were out of disk space"};

// Conditions become taints, so the predicates about conditions go, and those about taints and cordons are always there.
void ApplyTaintNodesByCondition(Registry* r) {
  for (std::string_view name :
       {"CheckNodeCondition", "CheckNodeMemoryPressure", "CheckNodeDiskPressure", "CheckNodePIDPressure"}) {
    r->RemovePredicate(name,
                       " (feature gate TaintNodesByCondition replaces it by taints: remove it from the Policy, or set "
                       "the gate to false)");
    r->RemovePredicateKeyEverywhere(name);
  }
  CHECK_EQ(util::Message(r->AddPredicate("CheckNodeUnschedulable", tainttoleration::CheckNodeUnschedulable,
                                         PredicateTraits(kPodTolerations, ClusterPart::kNode))),
           "");
  for (std::string_view name : {"PodToleratesNodeTaints", "CheckNodeUnschedulable"}) {
    r->MakeMandatory(name);
    r->InsertPredicateKeyEverywhere(name);
  }
}

// Source: ApplyFeatureGates in pkg/scheduler/algorithmprovider/defaults/defaults.go (1.13).
void ApplyGates(const SchedulerGates& gates, Registry* r) {
  auto priority = [&](std::string_view name, PriorityFunctionFactory factory, Traits traits) {
    CHECK_EQ(util::Message(r->AddPriority(name, std::move(factory), 1, traits)), "");
  };
  if (gates.taint_nodes_by_condition) ApplyTaintNodesByCondition(r);
  if (gates.algorithm.balance_attached_node_volumes) {
    // What it reads of the volumes of other pods is not among the parts that priorities can declare.
    priority("BalancedResourceAllocation", noderesources::BalancedResourceAllocationWithVolumes, {});
  }
  if (!gates.resource_limits_priority_function) return;
  priority("ResourceLimitsPriority", noderesources::ResourceLimits,
           PriorityTraits(kPodLimits, ClusterPart::kNode, Normalisation::kNone));
  r->InsertPriorityKeyEverywhere("ResourceLimitsPriority");
}

// Without percentageOfNodesToScore in the configuration, 1.13 takes 50 %.
constexpr SamplingRules kSampling = {SamplingRules::Walk::kTree, FixedShareOfNodes, 50};

}  // namespace

const Rules& Decides() {
  static const Rules kRelease = {
      .version = {13},
      .max_score = 10,
      .register_algorithms = RegisterAlgorithms,
      .apply_gates = ApplyGates,
      .has_policies = true,
      .predicate_ordering = kOrdering,
      .describe_template = DescribeTemplateWithScalarGpu,
      .fit_error_text = FitErrorText,
      .gates = Gates(),
      .gates_without_effect = GatesWithoutEffect(),
      .checks_claims_first = true,
      .wakes = kWakes,
      .cache = {.order = NodeOrder::kZoneTree, .keeps_tree = true, .notes_image_spread = true},
      .sampling = &kSampling,
      .claims = {.selected_node_is_immediate = true,
                 .lists_by_specification = true,
                 .names_are_empty = true,
                 .waits_for_claims_alone = true,
                 .knows_csi_drivers = false},
      .provisions_claims = true,
      .service_anti_affinity = serviceaffinity::ServiceAntiAffinityOfLivePods,
      .unresolvable_texts = kUnresolvable,
  };
  return kRelease;
}

}  // namespace berth::releases::v1_13
