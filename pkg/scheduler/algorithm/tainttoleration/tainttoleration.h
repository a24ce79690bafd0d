// Rules about taints and tolerations. Each function is the factory of one rule, which is implemented in a .cc file of
// this folder.
#pragma once
#include <absl/container/flat_hash_set.h>

#include <utility>
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/queue/cluster_event.h"

namespace berth::scheduler::tainttoleration {

// PodToleratesNodeTaints (1.10) and the Filter of TaintToleration (1.19, TaintsNotTolerated; 1.29, UntoleratedTaints):
// the pod tolerates every NoSchedule and NoExecute taint of the node. The reasons of 1.19 and 1.29 name the first taint
// that is not tolerated.
FitPredicate TaintsNotTolerated(const PluginFactoryArgs&);
FitPredicate UntoleratedTaints(const PluginFactoryArgs&);
// The Filter of TaintToleration (1.36): the same, and the reason does not name the taint.
struct TolerationRules {
  bool compares =
      false;  // the operators Gt and Lt compare whole numbers (1.35, gate TaintTolerationComparisonOperators)
};
FitPredicate HasUntoleratedTaints(const PluginFactoryArgs&, TolerationRules rules);
FitPredicate PodToleratesNodeTaints(const PluginFactoryArgs&);

// CheckNodeUnschedulable (1.11 to 1.22): the node is not cordoned, or the pod tolerates the taint
// node.kubernetes.io/unschedulable:NoSchedule.
FitPredicate CheckNodeUnschedulable(const PluginFactoryArgs&);

// TaintTolerationPriority (1.10) and the Score of TaintToleration (1.29): the fewer PreferNoSchedule taints the pod
// does not tolerate, the better.
PriorityFunction TaintToleration(const PluginFactoryArgs&);
// The same in 1.8: scaled by a fraction (NormalizeByReversedFraction).
PriorityFunction TaintTolerationByFraction(const PluginFactoryArgs&);
PriorityFunction TaintTolerationBy(const PluginFactoryArgs&, TolerationRules rules);

// Returns whether the toleration tolerates the taint.
bool Tolerates(const api::Toleration& toleration, const api::Taint& taint, TolerationRules rules = {});

// The tolerations of a pod. Many of them are looked up and not compared one by one.
class Tolerations {
 public:
  // `all` must outlive the object.
  Tolerations(const std::vector<api::Toleration>& all, TolerationRules rules) : all_(all), rules_(rules) {}
  // Returns whether one of them tolerates the taint.
  bool Tolerate(const api::Taint& taint) const;

 private:
  // An effect, a key and, where the operator is Equal, a value; an empty effect or key stands for all.
  struct Key {
    Symbol effect, key, value;
    bool any_value = false;
    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Key& k) {
      return H::combine(std::move(h), k.effect, k.key, k.value, k.any_value);
    }
  };

  const std::vector<api::Toleration>& all_;
  const TolerationRules rules_;
  // Filled at the first taint if there are many: those that compare no numbers, and the others.
  mutable absl::flat_hash_set<Key> exact_;
  mutable std::vector<const api::Toleration*> comparing_;
  mutable bool indexed_ = false;
};

// Returns whether the pod tolerates every NoSchedule and NoExecute taint of the node.
bool ToleratesAll(const api::PodTemplate& pod, const api::Node& node, TolerationRules rules = {});
// Erases the rows whose nodes have a taint that ToleratesAll does not tolerate. REQUIRES: the rows are listed.
void KeepTolerated(const api::PodTemplate& pod, const Cache& cache, TolerationRules rules, RowSet* rows);

// The hint of NodeUnschedulable (1.36): a node is new and takes pods, or takes them again.
bool MadeSchedulable(const api::Pod& pod, const ClusterEvent& e);
// The hint of TaintToleration (1.36): the pod tolerates the taints of a node that is new, or whose taints it did not
// tolerate before. Both: the pod itself got tolerations.
QueueingHint MadeTolerable(TolerationRules rules);

// NodeUnschedulable (1.29): the same rule as CheckNodeUnschedulable.
FitPredicate NodeUnschedulable(const PluginFactoryArgs&);
FitPredicate NodeUnschedulableBy(const PluginFactoryArgs&, TolerationRules rules);

}  // namespace berth::scheduler::tainttoleration
