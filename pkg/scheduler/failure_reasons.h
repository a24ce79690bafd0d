// The values of the metric label `reason` for pods that could not be scheduled.
//
// Failure texts name claims, taints and extended resources that tenants choose, and extenders word theirs as they
// like. A metric label must have few values, so texts are mapped to a fixed set here.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace berth::scheduler {

// An index into the fixed set of reasons.
using FailureReasonId = uint8_t;

// Returns the size of the set.
size_t FailureReasonCount();
// Returns the reason that stands for the failure text of a rule, for example "Insufficient cpu". Texts that no rule of
// this project gives (extenders, plugins) have the reason "other".
FailureReasonId FailureReasonOf(std::string_view failure_text);
// Returns the reason of an attempt that ended with an error instead of a verdict for each node: "error".
FailureReasonId ErrorReason();
// Returns the reason of an attempt for which there was no node at all.
FailureReasonId NoNodesReason();
// Returns the plugin of release 1.29 that gives a failure text; "" for texts that no plugin of this project gives.
std::string_view PluginOfFailure(std::string_view failure_text);
// REQUIRES: id < FailureReasonCount().
std::string_view FailureReasonText(FailureReasonId id);

}  // namespace berth::scheduler
