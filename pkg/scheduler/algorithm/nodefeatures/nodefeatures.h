// The rule about features that nodes declare. The function is the factory of the rule, which is implemented in a .cc
// file of this folder.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::nodefeatures {

// NodeDeclaredFeatures (1.35): the node declares every feature that the pod needs.
FitPredicate DeclaredFeatures(const PluginFactoryArgs&);

}  // namespace berth::scheduler::nodefeatures
