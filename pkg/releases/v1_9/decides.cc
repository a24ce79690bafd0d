#include "pkg/releases/v1_9/decides.h"

#include <absl/container/flat_hash_map.h>
#include <glog/logging.h>

#include "pkg/releases/v1_10/decides.h"
#include "pkg/scheduler/algorithm/interpodaffinity/interpodaffinity.h"
#include "pkg/scheduler/algorithm/reasons.h"
#include "pkg/util/status.h"

namespace berth::releases::v1_9 {
namespace {

using namespace scheduler;  // NOLINT: a release is a table of the scheduler's rules
using Rules = scheduler::Release;

// The rules are those of 1.10, under the same names. Source:
// plugin/pkg/scheduler/algorithmprovider/defaults/defaults.go (1.9).
void RegisterAlgorithms(Registry* r) {
  v1_10::Decides().register_algorithms(r);
  CHECK_EQ(util::Message(r->AddPredicate(
               "MatchInterPodAffinity",
               [](const PluginFactoryArgs& a) {
                 return interpodaffinity::MatchInterPodAffinityAnywhere(a, /*bad_terms_are_errors=*/true);
               },
               PredicateTraits(kPodNamespace | kPodLabels | kPodAffinity, ClusterPart::kDomains))),
           "");
}

}  // namespace

// Source: plugin/pkg/scheduler/algorithm/predicates/error.go (1.9).
Symbol ReasonWord(Symbol text) {
  static const auto& words = *new absl::flat_hash_map<Symbol, Symbol>{
      {reasons::kDiskConflict.text, Symbol("NoDiskConflict")},
      {reasons::kVolumeZoneConflict.text, Symbol("NoVolumeZoneConflict")},
      {reasons::kNodeSelectorNotMatch.text, Symbol("MatchNodeSelector")},
      {reasons::kPodAffinityNotMatch.text, Symbol("MatchInterPodAffinity")},
      {reasons::kPodAffinityRulesNotMatch.text, Symbol("PodAffinityRulesNotMatch")},
      {reasons::kPodAntiAffinityRulesNotMatch.text, Symbol("PodAntiAffinityRulesNotMatch")},
      {reasons::kExistingPodsAntiAffinityRulesNotMatch.text, Symbol("ExistingPodsAntiAffinityRulesNotMatch")},
      {reasons::kTaintsTolerationsNotMatch.text, Symbol("PodToleratesNodeTaints")},
      {reasons::kPodNotMatchHostName.text, Symbol("HostName")},
      {reasons::kPodNotFitsHostPorts.text, Symbol("PodFitsHostPorts")},
      {reasons::kNodeLabelPresenceViolated.text, Symbol("CheckNodeLabelPresence")},
      {reasons::kServiceAffinityViolated.text, Symbol("CheckServiceAffinity")},
      {reasons::kMaxVolumeCountExceeded.text, Symbol("MaxVolumeCount")},
      {reasons::kNodeUnderMemoryPressure.text, Symbol("NodeUnderMemoryPressure")},
      {reasons::kNodeUnderDiskPressure.text, Symbol("NodeUnderDiskPressure")},
      {reasons::kNodeOutOfDisk.text, Symbol("NodeOutOfDisk")},
      {reasons::kNodeNotReady.text, Symbol("NodeNotReady")},
      {reasons::kNodeNetworkUnavailable.text, Symbol("NodeNetworkUnavailable")},
      {reasons::kNodeUnschedulable.text, Symbol("NodeUnschedulable")},
      {reasons::kNodeUnknownCondition.text, Symbol("NodeUnknownCondition")},
      {reasons::kVolumeNodeConflict.text, Symbol("VolumeNodeAffinityConflict")},
      {reasons::kVolumeBindConflict.text, Symbol("VolumeBindingNoMatch")},
  };
  auto it = words.find(text);
  return it == words.end() ? text : it->second;
}

const Rules& Decides() {
  static const Rules kRelease = [] {
    Rules r = v1_10::Decides();
    r.version = {9};
    r.register_algorithms = RegisterAlgorithms;
    r.describe_template = DescribeTemplateWithOuterNames;
    r.gates = Gates();
    r.checks_claims_first = false;
    r.claims.lists_by_specification = false;
    r.reason_word = ReasonWord;
    r.checks_all_predicates = true;
    r.absent_lists_are_empty = true;
    r.extenders_manage_resources = false;
    r.service_anti_affinity = serviceaffinity::ServiceAntiAffinityOfAllPods;
    return r;
  }();
  return kRelease;
}

}  // namespace berth::releases::v1_9
