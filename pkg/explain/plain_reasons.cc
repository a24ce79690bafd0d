#include "pkg/explain/plain_reasons.h"

#include "pkg/scheduler/algorithm/reasons.h"

namespace berth::explain {

namespace reasons = scheduler::reasons;
using scheduler::FailureReason;

FailureReason PlainReason(const FailureReason& reason, const scheduler::Release& release) {
  if (release.reason_word == nullptr) return reason;
  for (const FailureReason* r : {&reasons::kDiskConflict,
                                 &reasons::kVolumeZoneConflict,
                                 &reasons::kNodeSelectorNotMatch,
                                 &reasons::kPodAffinityNotMatch,
                                 &reasons::kPodAffinityRulesNotMatch,
                                 &reasons::kPodAntiAffinityRulesNotMatch,
                                 &reasons::kExistingPodsAntiAffinityRulesNotMatch,
                                 &reasons::kTaintsTolerationsNotMatch,
                                 &reasons::kPodNotMatchHostName,
                                 &reasons::kPodNotFitsHostPorts,
                                 &reasons::kNodeLabelPresenceViolated,
                                 &reasons::kServiceAffinityViolated,
                                 &reasons::kMaxVolumeCountExceeded,
                                 &reasons::kNodeUnderMemoryPressure,
                                 &reasons::kNodeUnderDiskPressure,
                                 &reasons::kNodeUnderPidPressure,
                                 &reasons::kNodeOutOfDisk,
                                 &reasons::kNodeNotReady,
                                 &reasons::kNodeNetworkUnavailable,
                                 &reasons::kNodeUnschedulable,
                                 &reasons::kNodeUnknownCondition,
                                 &reasons::kVolumeNodeConflict,
                                 &reasons::kVolumeBindConflict}) {
    if (release.reason_word(r->text) != reason.text) continue;
    FailureReason plain = *r;
    plain.rule = reason.rule;
    return plain;
  }
  return reason;
}

std::vector<scheduler::GenericScheduler::PredicateResult> WithPlainReasons(
    std::vector<scheduler::GenericScheduler::PredicateResult> results, const scheduler::Release& release) {
  if (release.reason_word == nullptr) return results;
  for (auto& result : results) {
    for (FailureReason& r : result.reasons) r = PlainReason(r, release);
  }
  return results;
}

}  // namespace berth::explain
