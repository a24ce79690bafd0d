// The values of the metric label `reason` for pods that could not be scheduled.
//
// Failure texts contain names of claims, taints and extended resources that tenants choose, and the texts of extenders
// can be anything. A metric label must have few values, so failures are mapped to a fixed set of reasons.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "pkg/scheduler/algorithm/node_failures.h"

namespace berth::scheduler {

// An index into the fixed set of reasons.
using FailureReasonId = uint8_t;

// Returns the number of reasons.
size_t FailureReasonCount();
// Returns the reason for what a rule said. If neither its text nor its kind is in the set, which is so for texts of
// extenders and plugins, the reason is "other".
FailureReasonId FailureReasonOf(const FailureReason& failure);
// Returns the reason with this text, for example "Insufficient cpu", or "other" if there is none.
FailureReasonId FailureReasonNamed(std::string_view text);
// Returns the reasons of all nodes, each once, the one that decides first (DecisiveReason).
std::vector<FailureReasonId> DistinctReasons(const NodeFailures& failures);
// Returns the reason that decides: the one that most of the nodes nearest to fitting give. These are the
// nodes where the pod would fit if other pods left, or all nodes if there are none of them. Among equals it is the
// first in alphabetical order. Returns null if no node has a reason. Valid as long as the failures. REQUIRES:
// failures.size() > 0.
const FailureReason* DecisiveReason(const NodeFailures& failures);
// Returns the reason of an attempt that ended with an error of this kind (RuleError::kind) and not with a verdict for
// each node. If the kind is empty or not in the set, the reason is "error".
FailureReasonId ReasonOfError(Symbol kind);
// Returns the reason for an attempt when the cluster had no nodes.
FailureReasonId NoNodesReason();
// Returns the text of a reason. REQUIRES: id < FailureReasonCount().
std::string_view FailureReasonText(FailureReasonId id);

}  // namespace berth::scheduler
