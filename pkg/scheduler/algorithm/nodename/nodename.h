// The rule about a pod that names its node. Each function is the factory of one rule, which is implemented in
// host_name.cc.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::nodename {

// HostName (1.10): spec.nodeName is empty or is the name of the node.
FitPredicate HostName(const PluginFactoryArgs&);
// NodeName (1.29): the same rule with the failure reason of 1.29.
FitPredicate NodeName(const PluginFactoryArgs&);

}  // namespace berth::scheduler::nodename
