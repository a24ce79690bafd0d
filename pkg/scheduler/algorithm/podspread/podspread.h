// Rules that spread pods over nodes and topology domains. Each function is the factory of one rule, which is
// implemented in a .cc file of this folder.
#pragma once
#include <vector>

#include "pkg/scheduler/algorithm/domain_rule.h"
#include "pkg/scheduler/algorithm/tainttoleration/tainttoleration.h"
#include "pkg/scheduler/queue/cluster_event.h"

namespace berth::scheduler::podspread {

// SelectorSpreadPriority (1.10): the fewer pods of the same services and controllers on the node and, with weight 2/3,
// in its zone, the better. ServiceSpreadingPriority, its name in 1.0, is the same rule (bug B-20, kept).
PriorityFunction SelectorSpread(const PluginFactoryArgs&);

// Return the selector of the default constraints for a pod: the selectors of its services, merged into one, combined
// with that of its controller, found by its owner reference (1.29), or with those of all controllers that select the
// pod (1.19).
api::Selector SelectorOfServicesAndOwner(const Listers& listers, const api::PodTemplate& pod);
api::Selector SelectorOfServicesAndControllers(const Listers& listers, const api::PodTemplate& pod);

// SelectorSpread (1.19): the same rule as SelectorSpreadPriority, but one selector is made of those of the services and
// controllers, and either kind of zone label counts. Pods with topology spread constraints score 0 on every node.
PriorityFunction SelectorSpreadOfUnconstrained(const PluginFactoryArgs&);

// The PodTopologySpreadArgs of a profile, that is default constraints for pods that have none of their own, and what
// differs between releases. Without other values, the rule is that of 1.29.
struct TopologySpreadOptions {
  bool system_defaults = false;  // if true, Score also rates nodes that lack a label of the defaults
  std::vector<api::TopologySpreadConstraint> defaults;  // without selectors, which are derived from the pod
  tainttoleration::TolerationRules tolerations;         // for nodeTaintsPolicy

  api::Selector (*default_selector)(const Listers&, const api::PodTemplate&) = SelectorOfServicesAndOwner;
  bool skips_pods = true;              // whether the rule is left out for a pod without constraints
  bool counts_all_nodes = false;       // whether Filter counts pods on all nodes of a domain that has an admitted node
  bool empty_selector_counts = false;  // whether the selector {} counts every pod of the namespace
  bool rounds_scores = true;           // whether Score rounds sums, and does not truncate them

  // Returns the system defaults: the hostname with maxSkew 3 and the zone with maxSkew 5, both ScheduleAnyway.
  static TopologySpreadOptions System();
};

// PodTopologySpread, Filter: the DoNotSchedule constraints.
FitPredicate TopologySpreadFilter(const PluginFactoryArgs&, TopologySpreadOptions options);

// The hint of PodTopologySpread (1.36), by the DoNotSchedule constraints of the pod: a pod with a node or a nomination
// came to count for one of them or ceased to; a node with all their labels is new or gone, or its labels that they
// name, its taints, or whether it has all of them changed; the pod itself got tolerations and a constraint honours
// taints. A pod without such constraints was rejected by defaults, and each event may help it.
bool SpreadMadePossible(const api::Pod& pod, const ClusterEvent& e);

// PodTopologySpread, Score: the ScheduleAnyway constraints.
PriorityFunction TopologySpreadScore(const PluginFactoryArgs&, TopologySpreadOptions options);

}  // namespace berth::scheduler::podspread
