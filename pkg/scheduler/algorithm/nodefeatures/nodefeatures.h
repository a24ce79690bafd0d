// The rule about features that nodes declare. The function is the factory of the rule, which is implemented in a .cc
// file of this folder.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/queue/cluster_event.h"

namespace berth::scheduler::nodefeatures {

// NodeDeclaredFeatures (1.35): the node declares every feature that the pod needs.
FitPredicate DeclaredFeatures(const PluginFactoryArgs&);

// The hint of NodeDeclaredFeatures (1.36): a node is new or declares other features, or the pod itself needs others.
bool FeaturesMadeToMatch(const api::Pod& pod, const ClusterEvent& e);

}  // namespace berth::scheduler::nodefeatures
