// The rule about the node that a pod names itself. Each function is the factory of one rule of Kubernetes 1.10; the
// rule is in the .cc file that bears its name.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::nodename {

// HostName: spec.nodeName is empty or the node's name.
FitPredicate HostName(const PluginFactoryArgs&);
// NodeName of release 1.29: the same with its text.
FitPredicate NodeName(const PluginFactoryArgs&);

}  // namespace berth::scheduler::nodename
