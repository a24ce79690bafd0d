// The rule about images that nodes already hold. Each function is the factory of one rule of Kubernetes 1.10; the rule
// is in the .cc file that bears its name.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::imagelocality {

// ImageLocalityPriority: megabytes of the pod's images that the node already has, 23 MiB to 1000 MiB.
PriorityFunction ImageLocality(const PluginFactoryArgs&);

// ImageLocality (1.29): the same, with each image weighed by the share of nodes that have it.
PriorityFunction SpreadImageLocality(const PluginFactoryArgs&);

}  // namespace berth::scheduler::imagelocality
