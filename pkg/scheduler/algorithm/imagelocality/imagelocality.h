// The rules about container images that nodes already have. Each function is the factory of one rule, which is
// implemented in a .cc file of this folder.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::imagelocality {

// ImageLocalityPriority (1.10): the more bytes of the pod's images the node has, between 23 MiB and 1000 MiB, the
// better.
PriorityFunction ImageLocality(const PluginFactoryArgs&);
// The same in 1.8: of several entries of a node with one name, the first one counts, and not the last one.
PriorityFunction ImageLocalityOfFirst(const PluginFactoryArgs&);

// ImageLocalityPriority from 1.12 on: the same, but the size of each image is multiplied by the fraction of all nodes
// that had it when the node was last added or updated. REQUIRES: the cache notes that
// (CacheOptions::notes_image_spread).
PriorityFunction NotedImageLocality(const PluginFactoryArgs&);

// ImageLocality (1.29): the same, but the size of each image is multiplied by the fraction of all nodes that have it,
// and the upper bound is 1000 MiB for each container.
PriorityFunction SpreadImageLocality(const PluginFactoryArgs&);

// ImageLocality (1.19): the same, but the number of nodes that have an image is that of the moment when the node came
// or its images changed: the first node that reports an image sees 1, however many follow (kept).
PriorityFunction RememberedSpreadImageLocality(const PluginFactoryArgs&);

// ImageLocality (1.35): as in 1.29, but the images of init containers and of volumes count, too, and the upper bound is
// 1000 MiB for each container and init container.
PriorityFunction SpreadImageLocalityOfAll(const PluginFactoryArgs&);

}  // namespace berth::scheduler::imagelocality
