// Queueing hints of the plugins NodeUnschedulable and TaintToleration. Source: isSchedulableAfterNodeChange and
// isSchedulableAfterPodTolerationChange in pkg/scheduler/framework/plugins/nodeunschedulable and tainttoleration
// (1.36).
#include "pkg/scheduler/algorithm/hints.h"
#include "pkg/scheduler/algorithm/tainttoleration/tainttoleration.h"

namespace berth::scheduler::tainttoleration {

bool MadeSchedulable(const api::Pod&, const ClusterEvent& e) {
  const auto *before = e.Before<api::Node>(), *after = e.After<api::Node>();
  if (hints::IsOwn(e) || after == nullptr) return true;
  return !after->unschedulable && (before == nullptr || before->unschedulable);
}

QueueingHint MadeTolerable(TolerationRules rules) {
  return [rules](const api::Pod& pod, const ClusterEvent& e) {
    const auto *before = e.Before<api::Node>(), *after = e.After<api::Node>();
    if (hints::IsOwn(e) || after == nullptr) return true;
    return ToleratesAll(*pod.tmpl, *after, rules) && (before == nullptr || !ToleratesAll(*pod.tmpl, *before, rules));
  };
}

}  // namespace berth::scheduler::tainttoleration
