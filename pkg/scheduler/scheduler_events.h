// Under which labels 1.36 measures how long changes of the cluster take (pkg/scheduler/eventhandlers.go): what happened
// to which resource. An update that is several things has a label for each; what the release does not measure has none.
#pragma once
#include <absl/functional/function_ref.h>

#include <string_view>
#include <vector>

#include "pkg/api/types.h"
#include "pkg/scheduler/queue/cluster_event.h"
#include "pkg/scheduler/scheduler.h"

namespace berth::scheduler {

using EventLabels = std::vector<std::string_view>;

// `ours` says whether a pod without a node is one that this scheduler places.
EventLabels LabelsOf(const Change<api::Pod>& c, absl::FunctionRef<bool(const api::Pod&)> ours);
EventLabels LabelsOf(const Change<api::Node>& c);
// For objects of other kinds, by what is known of the change, and for devices.
EventLabels LabelsOfStored(ClusterEvent::Kind kind, bool is_new);
EventLabels LabelsOfDevices(bool is_class, bool is_new);

}  // namespace berth::scheduler
