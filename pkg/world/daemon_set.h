// The pods of DaemonSets: on which nodes they should run, and what the controller writes into them.
#pragma once
#include <memory>
#include <string_view>

#include "pkg/api/types.h"
#include "pkg/world/objects.h"
#include "pkg/world/rules.h"

namespace berth::world {

// Returns the pod of a DaemonSet before it is made for a node: with the labels of its revision and the tolerations that
// the controller adds.
Value PodOfDaemonSet(const Value& daemon_set, const Rules& rules);

// Returns whether a DaemonSet with this pod (PodOfDaemonSet, decoded) should have one on the node: spec.nodeName, node
// selector and required affinity match, and its taints other than PreferNoSchedule are tolerated. Resources, conditions
// and cordons do not count.
bool DaemonRunsOn(const api::PodTemplate& pod, std::string_view node_name_of_template, const api::Node& node);

// Replaces the required node affinity by one that names the node. Preferred terms stay.
void PinToNode(std::string_view node, Value* pod);
// The same for a decoded pod.
std::shared_ptr<const api::PodTemplate> PinnedToNode(const api::PodTemplate& pod, std::string_view node);

}  // namespace berth::world
