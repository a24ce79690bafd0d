// Reasons as their rules give them, where a release says them in other words (Release::reason_word).
#pragma once
#include <vector>

#include "pkg/scheduler/core/generic_scheduler.h"
#include "pkg/scheduler/registry/release.h"

namespace berth::explain {

// Returns the reason that the release words so, or the reason itself.
scheduler::FailureReason PlainReason(const scheduler::FailureReason& reason, const scheduler::Release& release);

// Returns the results with such reasons. Where a release does not say which rule about other pods it was, the pod does
// if it has only one.
std::vector<scheduler::GenericScheduler::PredicateResult> WithPlainReasons(
    std::vector<scheduler::GenericScheduler::PredicateResult> results, const scheduler::Release& release,
    const api::PodTemplate& pod);

}  // namespace berth::explain
