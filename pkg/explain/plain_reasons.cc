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

namespace {

// Returns the reason for which the pod was refused beside others, or null if it may be one of several.
const FailureReason* CauseIn(const api::PodTemplate& pod) {
  const bool wants = pod.affinity.pod && !pod.affinity.pod->required.empty();
  const bool avoids = pod.affinity.pod_anti && !pod.affinity.pod_anti->required.empty();
  if (wants && avoids) return nullptr;
  return wants    ? &reasons::kPodAffinityRulesNotMatch
         : avoids ? &reasons::kPodAntiAffinityRulesNotMatch
                  : &reasons::kExistingPodsAntiAffinityRulesNotMatch;
}

}  // namespace

std::vector<scheduler::GenericScheduler::PredicateResult> WithPlainReasons(
    std::vector<scheduler::GenericScheduler::PredicateResult> results, const scheduler::Release& release,
    const api::PodTemplate& pod) {
  if (release.reason_word == nullptr) return results;
  const bool says_cause = !release.reason_word(reasons::kPodAffinityRulesNotMatch.text).empty();
  const FailureReason* const cause = says_cause ? nullptr : CauseIn(pod);
  for (auto& result : results) {
    bool lacks_cause = false;
    for (FailureReason& r : result.reasons) {
      r = PlainReason(r, release);
      lacks_cause |= r.text == reasons::kPodAffinityNotMatch.text;
    }
    if (lacks_cause && cause != nullptr) result.reasons.push_back(*cause);
  }
  return results;
}

}  // namespace berth::explain
