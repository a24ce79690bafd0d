// The queueing hint of the plugin DynamicResources. Source: isSchedulableAfterClaimChange and
// isSchedulableAfterPodChange in pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go (1.36).
#include <algorithm>

#include "pkg/scheduler/algorithm/hints.h"
#include "pkg/scheduler/algorithm/resourceclaims/resourceclaims.h"

namespace berth::scheduler::resourceclaims {
namespace {

// Returns whether the pod names the claim, or its status says that it was generated for the pod.
bool NamesClaim(const api::Pod& pod, const api::ResourceClaim& claim) {
  if (pod.meta.ns != claim.meta.ns) return false;
  const auto& all = pod.tmpl->resource_claims;
  if (std::any_of(all.begin(), all.end(), [&](const auto& c) { return c.claim == claim.meta.name; })) return true;
  return pod.claim_statuses && std::any_of(pod.claim_statuses->begin(), pod.claim_statuses->end(),
                                           [&](const auto& s) { return s.second == claim.meta.name; });
}

}  // namespace

bool ClaimsMadeAvailable(const api::Pod& pod, const ClusterEvent& e) {
  if (!e.Has<api::ResourceClaim>()) return true;
  const auto *before = e.Before<api::ResourceClaim>(), *after = e.After<api::ResourceClaim>();
  if (after == nullptr) return true;
  const bool freed = before != nullptr && before->allocated && !after->allocated;
  return freed || NamesClaim(pod, *after);
}

}  // namespace berth::scheduler::resourceclaims
