// The queueing hint of the plugin NodeDeclaredFeatures. Source: isSchedulableAfterNodeChange and
// isSchedulableAfterPodUpdate in pkg/scheduler/framework/plugins/nodedeclaredfeatures (1.36).
#include "pkg/scheduler/algorithm/hints.h"
#include "pkg/scheduler/algorithm/nodefeatures/nodefeatures.h"

namespace berth::scheduler::nodefeatures {

bool FeaturesMadeToMatch(const api::Pod&, const ClusterEvent& e) {
  if (hints::IsOwn(e)) {
    const auto *was = e.Before<api::Pod>(), *is = e.After<api::Pod>();
    return was == nullptr || is == nullptr || was->tmpl->node_features != is->tmpl->node_features;
  }
  const auto *before = e.Before<api::Node>(), *after = e.After<api::Node>();
  if (hints::IsAboutTaints(e) || before == nullptr || after == nullptr) return true;
  return before->declared_features != after->declared_features;
}

}  // namespace berth::scheduler::nodefeatures
