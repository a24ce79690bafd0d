// The rule about resource claims (dynamic resource allocation). Devices are not allocated here, so a pod that needs a
// claim never fits; what is said about it depends on which of its claims exist.
#pragma once
#include <string>

#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/cache/listers.h"
#include "pkg/scheduler/queue/cluster_event.h"

namespace berth::scheduler::resourceclaims {

// Returns what the pod waits for, as the PreEnqueue of DynamicResources words it (1.36): the first of its claims that
// was not created yet or does not exist. For a claim that exists, it says that nobody allocates devices for it. Returns
// an empty text if it needs no claim.
std::string WhyClaimsHold(const api::Pod& pod, const Listers& listers);

// DynamicResources (1.36): rejects a pod that needs a claim, with the text of WhyClaimsHold.
FitPredicate ResourceClaims(const PluginFactoryArgs&);

// The hint of DynamicResources (1.36): one of the pod's claims is new or has changed, or any claim gave its devices
// back; a node or devices changed.
bool ClaimsMadeAvailable(const api::Pod& pod, const ClusterEvent& e);

}  // namespace berth::scheduler::resourceclaims
