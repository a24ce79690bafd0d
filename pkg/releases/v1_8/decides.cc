#include "pkg/releases/v1_8/decides.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <glog/logging.h>

#include <algorithm>

#include "pkg/releases/v1_9/decides.h"
#include "pkg/scheduler/algorithm/general/general.h"
#include "pkg/scheduler/algorithm/imagelocality/imagelocality.h"
#include "pkg/scheduler/algorithm/interpodaffinity/interpodaffinity.h"
#include "pkg/scheduler/algorithm/nodeports/nodeports.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/scheduler/algorithm/tainttoleration/tainttoleration.h"
#include "pkg/scheduler/algorithm/volumes/volumes.h"
#include "pkg/util/status.h"

namespace berth::releases::v1_8 {
namespace {

using namespace scheduler;  // NOLINT: a release is a table of the scheduler's rules
using Rules = scheduler::Release;

// Source: plugin/pkg/scheduler/algorithm/predicates/predicates.go (1.8).
void RegisterPredicates(Registry* r) {
  auto predicate = [&](std::string_view name, FitPredicateFactory factory, Traits traits) {
    CHECK_EQ(util::Message(r->AddPredicate(name, std::move(factory), traits)), "");
  };
  constexpr Traits kPorts = PredicateTraits(kPodHostPorts, ClusterPart::kNodePods);
  constexpr Traits kVolumeRule = PredicateTraits(kPodNamespace | kPodVolumes, ClusterPart::kVolumes);
  CHECK_EQ(util::Message(
               r->AddCompositePredicate("GeneralPredicates", general::GeneralPredicatesByPortNumber,
                                        {"PodFitsResources", "HostName", "PodFitsHostPorts", "MatchNodeSelector"})),
           "");
  predicate("PodFitsHostPorts", nodeports::PodFitsHostPortNumbers, kPorts);
  predicate("PodFitsPorts", nodeports::PodFitsHostPortNumbers, kPorts);
  predicate("NoDiskConflict", volumes::NoDiskConflictOrRepetition, kVolumeRule);
  using volumes::CloudDisk;
  predicate(
      "MaxEBSVolumeCount",
      [](const PluginFactoryArgs& a) { return volumes::MaxPdVolumeCountUntilMissing(CloudDisk::kEbs, a); },
      kVolumeRule);
  predicate(
      "MaxGCEPDVolumeCount",
      [](const PluginFactoryArgs& a) { return volumes::MaxPdVolumeCountUntilMissing(CloudDisk::kGcePd, a); },
      kVolumeRule);
  predicate(
      "MaxAzureDiskVolumeCount",
      [](const PluginFactoryArgs& a) { return volumes::MaxPdVolumeCountUntilMissing(CloudDisk::kAzure, a); },
      kVolumeRule);
  predicate(
      "MatchInterPodAffinity",
      [](const PluginFactoryArgs& a) {
        return interpodaffinity::MatchInterPodAffinityAnywhere(a, /*bad_terms_are_errors=*/false);
      },
      PredicateTraits(kPodNamespace | kPodLabels | kPodAffinity, ClusterPart::kDomains));
  predicate("NoVolumeNodeConflict", volumes::NoVolumeNodeConflict, kVolumeRule);
  r->RemovePredicate("CheckVolumeBinding", " (it came with the release after this one)");
  r->RemovePredicateKeyEverywhere("CheckVolumeBinding");
  r->InsertPredicateKeyEverywhere("NoVolumeNodeConflict");
}

// NodeAffinityPriority computes with fractions, too, which gives the same whole numbers as 1.10's division.
// Source: plugin/pkg/scheduler/algorithm/priorities (1.8).
void RegisterAlgorithms(Registry* r) {
  v1_9::Decides().register_algorithms(r);
  // The composite predicate is made of what is registered now.
  RegisterPredicates(r);
  auto priority = [&](std::string_view name, PriorityFunctionFactory factory, Traits traits) {
    CHECK_EQ(util::Message(r->AddPriority(name, std::move(factory), 1, traits)), "");
  };
  priority("TaintTolerationPriority", tainttoleration::TaintTolerationByFraction,
           PriorityTraits(kPodTolerations, ClusterPart::kNode, Normalisation::kFractionReversed));
  priority("ImageLocalityPriority", imagelocality::ImageLocalityOfFirst,
           PriorityTraits(kPodImages, ClusterPart::kNode, Normalisation::kNone));
}

// Inter-pod affinity gives one reason, whatever the cause. Source: plugin/pkg/scheduler/algorithm/predicates/error.go
// (1.8).
Symbol ReasonWord(Symbol text) {
  static const Symbol kCauses[] = {reasons::kPodAffinityRulesNotMatch.text, reasons::kPodAntiAffinityRulesNotMatch.text,
                                   reasons::kExistingPodsAntiAffinityRulesNotMatch.text};
  if (std::find(std::begin(kCauses), std::end(kCauses), text) != std::end(kCauses)) return Symbol();
  static const Symbol kVolumeNode("NoVolumeNodeConflict");
  return text == reasons::kVolumeNodeConflict.text ? kVolumeNode : v1_9::ReasonWord(text);
}

// Returns, for example: No nodes are available that match all of the predicates: Insufficient cpu (4), HostName (1).
std::string FitErrorText(const NodeFailures& failures, size_t, const PodRejection*) {
  std::vector<std::string> entries;
  for (const auto& [reason, nodes] : failures.Histogram()) entries.push_back(absl::StrCat(reason, " (", nodes, ")"));
  std::sort(entries.begin(), entries.end());
  return absl::StrCat("No nodes are available that match all of the predicates: ", absl::StrJoin(entries, ", "), ".");
}

// Evictions are tried against these in 1.8 (nodesWherePreemptionMightHelp in
// plugin/pkg/scheduler/core/generic_scheduler.go).
constexpr std::string_view kResolvable[] = {"NoVolumeZoneConflict", "NoVolumeNodeConflict", "VolumeBindingNoMatch"};

// The gates of 1.9 without those that came with it.
std::span<const util::FeatureGate> Gates() {
  static const std::vector<util::FeatureGate> kGates = [] {
    std::vector<util::FeatureGate> gates;
    for (const util::FeatureGate& g : v1_9::Gates()) {
      constexpr std::string_view kNew[] = {"BlockVolume",     "CSIPersistentVolume", "CustomPodDNS",
                                           "MountContainers", "PVCProtection",       "ResourceLimitsPriorityFunction",
                                           "VolumeScheduling"};
      if (std::find(std::begin(kNew), std::end(kNew), g.name) == std::end(kNew)) gates.push_back(g);
    }
    return gates;
  }();
  return kGates;
}

}  // namespace

const Rules& Decides() {
  static const Rules kRelease = [] {
    Rules r = v1_9::Decides();
    r.version = {8};
    r.register_algorithms = RegisterAlgorithms;
    r.describe_template = DescribeTemplateWithOpaqueNames;
    r.fit_error_text = FitErrorText;
    r.gates = Gates();
    r.reason_word = ReasonWord;
    r.scores_single_node = true;
    r.extenders_need_weight = true;
    r.orders_queue_by_priority = false;
    r.counts_nominated = r.counts_budgets = false;
    r.resolvable_texts = kResolvable;
    return r;
  }();
  return kRelease;
}

}  // namespace berth::releases::v1_8
