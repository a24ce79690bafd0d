// The rule about host ports. Each function is the factory of one rule of Kubernetes 1.10, which is implemented in the
// .cc file of the same name.
#pragma once
#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/queue/cluster_event.h"

namespace berth::scheduler::nodeports {

// PodFitsHostPorts (called PodFitsPorts in 1.0): none of the pod's host ports is in use on the node. The address
// 0.0.0.0 conflicts with every address.
FitPredicate PodFitsHostPorts(const PluginFactoryArgs&);
// The same in 1.8: numbers alone count, whatever the protocols and addresses.
FitPredicate PodFitsHostPortNumbers(const PluginFactoryArgs&);

// The hint of NodePorts (1.36): a pod is gone that had a port which the pod wants, or there is a new node.
bool PortsMadeFree(const api::Pod& pod, const ClusterEvent& e);

}  // namespace berth::scheduler::nodeports
