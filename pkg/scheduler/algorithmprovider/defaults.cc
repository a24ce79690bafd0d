#include "pkg/scheduler/algorithmprovider/defaults.h"

#include <glog/logging.h>

#include "pkg/scheduler/algorithm/predicates/predicates.h"
#include "pkg/scheduler/algorithm/priorities/priorities.h"
#include "pkg/util/status.h"

namespace berth::scheduler::algorithmprovider {
namespace {

using predicates::CloudDisk;

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

}  // namespace

void RegisterDefaults(Registry* r) {
  auto predicate = [&](std::string_view name, FitPredicateFactory factory, bool mandatory = false) {
    CHECK_EQ(util::Message(r->AddPredicate(name, std::move(factory), mandatory)), "");
  };
  auto priority = [&](std::string_view name, PriorityFunctionFactory factory, int64_t weight = 1) {
    CHECK_EQ(util::Message(r->AddPriority(name, std::move(factory), weight)), "");
  };

  predicate("CheckNodeCondition", predicates::CheckNodeCondition, /*mandatory=*/true);
  predicate("GeneralPredicates", predicates::GeneralPredicates);
  predicate("HostName", predicates::HostName);
  predicate("PodFitsHostPorts", predicates::PodFitsHostPorts);
  predicate("PodFitsPorts", predicates::PodFitsHostPorts);  // the name of 1.0
  predicate("MatchNodeSelector", predicates::MatchNodeSelector);
  predicate("PodFitsResources", predicates::PodFitsResources);
  predicate("NoDiskConflict", predicates::NoDiskConflict);
  predicate("PodToleratesNodeTaints", predicates::PodToleratesNodeTaints);
  predicate("MaxEBSVolumeCount",
            [](const PluginFactoryArgs& a) { return predicates::MaxPdVolumeCount(CloudDisk::kEbs, a); });
  predicate("MaxGCEPDVolumeCount",
            [](const PluginFactoryArgs& a) { return predicates::MaxPdVolumeCount(CloudDisk::kGcePd, a); });
  predicate("MaxAzureDiskVolumeCount",
            [](const PluginFactoryArgs& a) { return predicates::MaxPdVolumeCount(CloudDisk::kAzure, a); });
  predicate("CheckVolumeBinding", predicates::CheckVolumeBinding);
  predicate("NoVolumeZoneConflict", predicates::NoVolumeZoneConflict);
  predicate("CheckNodeMemoryPressure", predicates::CheckNodeMemoryPressure);
  predicate("CheckNodeDiskPressure", predicates::CheckNodeDiskPressure);
  predicate("MatchInterPodAffinity", predicates::MatchInterPodAffinity);

  priority("SelectorSpreadPriority", priorities::SelectorSpread);
  priority("ServiceSpreadingPriority", priorities::SelectorSpread);  // the name of 1.0
  priority("InterPodAffinityPriority", priorities::InterPodAffinity);
  priority("LeastRequestedPriority", priorities::LeastRequested);
  priority("MostRequestedPriority", priorities::MostRequested);
  priority("BalancedResourceAllocation", priorities::BalancedResourceAllocation);
  priority("NodePreferAvoidPodsPriority", priorities::NodePreferAvoidPods, 10000);
  priority("NodeAffinityPriority", priorities::NodeAffinity);
  priority("TaintTolerationPriority", priorities::TaintToleration);
  priority("ImageLocalityPriority", priorities::ImageLocality);
  priority("EqualPriority", priorities::Equal);

  std::set<std::string> autoscaler = DefaultPriorities();
  autoscaler.erase("LeastRequestedPriority");
  autoscaler.insert("MostRequestedPriority");
  CHECK_EQ(util::Message(r->AddProvider(kDefaultProvider, {DefaultPredicates(), DefaultPriorities()})), "");
  CHECK_EQ(util::Message(r->AddProvider(kClusterAutoscalerProvider, {DefaultPredicates(), autoscaler})), "");
}

void ApplyTaintNodesByCondition(Registry* r) {
  r->RemovePredicate("CheckNodeCondition");
  r->RemovePredicateKeyEverywhere("CheckNodeCondition");
  r->MakeMandatory("PodToleratesNodeTaints");
  r->InsertPredicateKeyEverywhere("PodToleratesNodeTaints");
}

void ApplyResourceLimitsPriorityFunction(Registry* r) {
  CHECK_EQ(util::Message(r->AddPriority("ResourceLimitsPriority", priorities::ResourceLimits, 1)), "");
}

}  // namespace berth::scheduler::algorithmprovider
