// The queueing hint of the plugin InterPodAffinity. Source: isSchedulableAfterPodChange and
// isSchedulableAfterNodeChange in pkg/scheduler/framework/plugins/interpodaffinity/plugin.go (1.36).
#include <algorithm>
#include <vector>

#include "pkg/scheduler/algorithm/hints.h"
#include "pkg/scheduler/algorithm/interpodaffinity/interpodaffinity.h"

namespace berth::scheduler::interpodaffinity {
namespace {

using AffinityTerms = std::vector<api::PodAffinityTerm>;

const AffinityTerms& RequiredOf(const std::optional<api::PodAffinity>& affinity) {
  static const AffinityTerms kNoTerms;
  return affinity ? affinity->required : kNoTerms;
}

// Returns whether there are terms and the pod matches all of them. A namespaceSelector is taken to select every
// namespace.
bool MatchesAll(const AffinityTerms& terms, const api::Pod& pod) {
  return !terms.empty() && std::all_of(terms.begin(), terms.end(), [&](const api::PodAffinityTerm& t) {
    const bool in_namespace =
        t.namespace_selector || std::binary_search(t.namespaces.begin(), t.namespaces.end(), pod.meta.ns);
    return in_namespace && t.selector.ok() && t.selector.selector.Matches(pod.tmpl->labels);
  });
}

bool OtherPodMayHelp(const api::Pod& waiting, const api::Pod* before, const api::Pod* after) {
  const AffinityTerms& near = RequiredOf(waiting.tmpl->affinity.pod);
  const AffinityTerms& apart = RequiredOf(waiting.tmpl->affinity.pod_anti);
  if (before == nullptr) return MatchesAll(near, *after);
  if (after == nullptr) {
    return MatchesAll(apart, *before) || MatchesAll(RequiredOf(before->tmpl->affinity.pod_anti), waiting);
  }
  return (!MatchesAll(near, *before) && MatchesAll(near, *after)) ||
         (MatchesAll(apart, *before) && !MatchesAll(apart, *after));
}

bool TopologyMayHelp(const api::Pod& waiting, const api::Node* before, const api::Node& after) {
  const AffinityTerms& near = RequiredOf(waiting.tmpl->affinity.pod);
  const AffinityTerms& apart = RequiredOf(waiting.tmpl->affinity.pod_anti);
  if (before == nullptr && !apart.empty()) return true;
  const auto differs = [&](const api::PodAffinityTerm& t) {
    return before == nullptr || before->labels.Get(t.topology_key) != after.labels.Get(t.topology_key);
  };
  return std::any_of(near.begin(), near.end(),
                     [&](const auto& t) { return differs(t) && after.labels.Get(t.topology_key).has_value(); }) ||
         std::any_of(apart.begin(), apart.end(),
                     [&](const auto& t) { return differs(t) && before->labels.Get(t.topology_key).has_value(); });
}

}  // namespace

bool AffinityMadePossible(const api::Pod& pod, const ClusterEvent& e) {
  if (hints::IsAboutTaints(e) || hints::IsOwn(e)) return true;
  if (e.Has<api::Pod>() && e.pod() != nullptr) {
    return e.pod()->meta.uid == pod.meta.uid ||
           (hints::HadPlace(*e.pod()) && OtherPodMayHelp(pod, e.Before<api::Pod>(), e.After<api::Pod>()));
  }
  const api::Node* node = e.After<api::Node>();
  return node == nullptr || TopologyMayHelp(pod, e.Before<api::Node>(), *node);
}

}  // namespace berth::scheduler::interpodaffinity
