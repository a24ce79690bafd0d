// Rules that spread the pods of one service or controller. Each function is the factory of one rule of Kubernetes 1.10;
// the rule is in the .cc file that bears its name.
#pragma once
#include <vector>

#include "pkg/scheduler/algorithm/domain_rule.h"

namespace berth::scheduler::podspread {

// SelectorSpreadPriority: fewer pods of the same services and controllers on the node, and (weighing 2/3) in its zone.
// ServiceSpreadingPriority, the 1.0 name, is the same (B-20, kept).
PriorityFunction SelectorSpread(const PluginFactoryArgs&);

// What a profile says of PodTopologySpread (1.29): constraints for pods that have none of their own.
struct TopologySpreadOptions {
  bool system_defaults = false;  // only then nodes without a label of the defaults are scored all the same
  std::vector<api::TopologySpreadConstraint> defaults;  // without selectors

  // Hostname with maxSkew 3 and zone with maxSkew 5, both ScheduleAnyway.
  static TopologySpreadOptions System();
};

// PodTopologySpread (1.29), Filter: the DoNotSchedule constraints.
FitPredicate TopologySpreadFilter(const PluginFactoryArgs&, TopologySpreadOptions options);

// PodTopologySpread (1.29), Score: the ScheduleAnyway constraints.
PriorityFunction TopologySpreadScore(const PluginFactoryArgs&, TopologySpreadOptions options);

}  // namespace berth::scheduler::podspread
