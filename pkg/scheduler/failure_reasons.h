// The values of the metric label `reason` for pods that could not be scheduled.
//
// Failure texts contain names of claims, taints and extended resources that tenants choose, and the texts of extenders
// can be anything. A metric label must have few values, so failure texts are mapped to a fixed set of reasons.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace berth::scheduler {

// An index into the fixed set of reasons.
using FailureReasonId = uint8_t;

// Returns the number of reasons.
size_t FailureReasonCount();
// Returns the reason for the failure text of a rule, for example "Insufficient cpu". A text that no rule of this
// project returns, such as that of an extender or a plugin, has the reason "other".
FailureReasonId FailureReasonOf(std::string_view failure_text);
// Returns the reason "error", for an attempt that ended with an error and not with a verdict for each node.
FailureReasonId ErrorReason();
// Returns the reason for an attempt when the cluster had no nodes.
FailureReasonId NoNodesReason();
// Returns the plugin of release 1.29 that returns the failure text, or "" when no plugin of this project does.
std::string_view PluginOfFailure(std::string_view failure_text);
// Returns the text of a reason. REQUIRES: id < FailureReasonCount().
std::string_view FailureReasonText(FailureReasonId id);

}  // namespace berth::scheduler
