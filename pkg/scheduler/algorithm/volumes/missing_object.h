// The errors that name an object behind a pod's volume that does not exist. The kind of each is the one of reasons.h.
#pragma once
#include <string_view>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::volumes {

// Return, for example, "persistentvolumeclaim \"a\" not found".
RuleError NoClaim(std::string_view name);
RuleError NoVolume(std::string_view name);
RuleError NoStorageClass(std::string_view name);
// Returns the rejection of a pod for this error. No eviction helps against it. REQUIRES: the error is not empty.
FailureReason RejectionFor(const RuleError& error);

}  // namespace berth::scheduler::volumes
