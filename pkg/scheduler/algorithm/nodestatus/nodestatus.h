// Rules about the conditions that a node reports. Each function is the factory of one rule of Kubernetes 1.10; the rule
// is in the .cc file that bears its name.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::nodestatus {

// CheckNodeCondition (mandatory): Ready is True, OutOfDisk and NetworkUnavailable are False where present, and the node
// is not cordoned. Fails with one reason for each condition entry that is wrong.
FitPredicate CheckNodeCondition(const PluginFactoryArgs&);

// CheckNodeMemoryPressure: best-effort pods avoid nodes with memory pressure.
FitPredicate CheckNodeMemoryPressure(const PluginFactoryArgs&);

// CheckNodeDiskPressure: all pods avoid nodes with disk pressure.
FitPredicate CheckNodeDiskPressure(const PluginFactoryArgs&);

// CheckNodePIDPressure (Kubernetes 1.11 to 1.16): all pods avoid nodes that run out of process ids.
FitPredicate CheckNodePidPressure(const PluginFactoryArgs&);

}  // namespace berth::scheduler::nodestatus
