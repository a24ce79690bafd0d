// Rules that spread pods over nodes and topology domains. Each function is the factory of one rule, which is
// implemented in a .cc file of this folder.
#pragma once
#include <vector>

#include "pkg/scheduler/algorithm/domain_rule.h"

namespace berth::scheduler::podspread {

// SelectorSpreadPriority (1.10): the fewer pods of the same services and controllers on the node and, with weight 2/3,
// in its zone, the better. ServiceSpreadingPriority, its name in 1.0, is the same rule (bug B-20, kept).
PriorityFunction SelectorSpread(const PluginFactoryArgs&);

// The PodTopologySpreadArgs of a profile (1.29): default constraints for pods that have none of their own.
struct TopologySpreadOptions {
  bool system_defaults = false;  // if true, Score also rates nodes that lack a label of the defaults
  std::vector<api::TopologySpreadConstraint> defaults;  // without selectors, which are derived from the pod

  // Returns the system defaults: the hostname with maxSkew 3 and the zone with maxSkew 5, both ScheduleAnyway.
  static TopologySpreadOptions System();
};

// PodTopologySpread (1.29), Filter: the DoNotSchedule constraints.
FitPredicate TopologySpreadFilter(const PluginFactoryArgs&, TopologySpreadOptions options);

// PodTopologySpread (1.29), Score: the ScheduleAnyway constraints.
PriorityFunction TopologySpreadScore(const PluginFactoryArgs&, TopologySpreadOptions options);

}  // namespace berth::scheduler::podspread
