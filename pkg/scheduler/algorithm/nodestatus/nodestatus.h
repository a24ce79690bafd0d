// Rules about the conditions that a node reports. Each function is the factory of one rule, which is implemented in a
// .cc file of this folder.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::nodestatus {

// CheckNodeCondition (1.10, mandatory): Ready is True, OutOfDisk and NetworkUnavailable are False if they are present,
// and the node is not cordoned. Fails with one reason for each condition that is violated.
FitPredicate CheckNodeCondition(const PluginFactoryArgs&);

// CheckNodeMemoryPressure (1.10): best-effort pods do not fit nodes under memory pressure.
FitPredicate CheckNodeMemoryPressure(const PluginFactoryArgs&);

// CheckNodeDiskPressure (1.10): no pod fits a node under disk pressure.
FitPredicate CheckNodeDiskPressure(const PluginFactoryArgs&);

// CheckNodePIDPressure (1.11 to 1.16): no pod fits a node that is running out of process ids.
FitPredicate CheckNodePidPressure(const PluginFactoryArgs&);

}  // namespace berth::scheduler::nodestatus
