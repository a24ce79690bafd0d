// The rule about host ports. Each function is the factory of one rule of Kubernetes 1.10; the rule is
// in the .cc file that bears its name.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::nodeports {

// PodFitsHostPorts (1.0's PodFitsPorts): none of the pod's host ports is taken. 0.0.0.0 stands for all addresses.
FitPredicate PodFitsHostPorts(const PluginFactoryArgs&);

}  // namespace berth::scheduler::nodeports
