// The queueing hint of the plugin NodeAffinity. Source: isSchedulableAfterNodeChange in
// pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go (1.36).
#include <algorithm>
#include <memory>
#include <utility>

#include "pkg/scheduler/algorithm/hints.h"
#include "pkg/scheduler/algorithm/nodeaffinity/nodeaffinity.h"

namespace berth::scheduler::nodeaffinity {

QueueingHint NodeMadeToMatch(AddedAffinity added) {
  auto shared = std::make_shared<const AddedAffinity>(std::move(added));
  const auto matches = [shared](const api::Pod& pod, const api::Node& node) {
    const auto& terms = shared->required;
    return MeetsRequired(*pod.tmpl, node) && (!terms || std::any_of(terms->begin(), terms->end(), [&](const auto& t) {
             return ValidTermMatches(t, node);
           }));
  };
  return [matches](const api::Pod& pod, const ClusterEvent& e) {
    const auto *before = e.Before<api::Node>(), *after = e.After<api::Node>();
    if (hints::IsAboutTaints(e) || after == nullptr) return true;
    return matches(pod, *after) && (before == nullptr || !matches(pod, *before));
  };
}

}  // namespace berth::scheduler::nodeaffinity
