// Tries the ways to make a pod fit before they are shown: their changes are made, the predicates are evaluated anew,
// and everything is as it was afterwards.
#pragma once
#include <string>
#include <vector>

#include "pkg/explain/explanation.h"

namespace berth::explain {

// Leaves in e->ways those that make the pod fit, in their order and with the nodes where they do, and finds the pods
// that have to move. Of very many ways only the first ones are tried, and the others are left out. REQUIRES: the pod is
// not in the cache; e->ways and e->by_node are filled in.
void KeepWhatHelps(const Subject& subject, Explanation* e);

// Returns the pods that are being deleted on the node to which the pod is nominated, if it fits as soon as they have
// ended: then it waits for nothing else.
std::vector<std::string> WhoseEndIsAwaited(const Subject& subject, const api::PodPtr& pod);

}  // namespace berth::explain
