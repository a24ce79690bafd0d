// What the required terms say about a node, for the two forms of MatchInterPodAffinity.
#pragma once
#include <vector>

#include "pkg/scheduler/algorithm/algorithm.h"
#include "pkg/scheduler/algorithm/reasons.h"

namespace berth::scheduler::interpodaffinity {

// Why a node does not fit: the anti-affinity of a pod that is there, the pod's own affinity or anti-affinity, or a term
// that cannot be used.
enum class AffinityAnswer { kFits, kExisting, kAffinity, kAnti, kError };

inline Verdict VerdictOf(AffinityAnswer answer) {
  switch (answer) {
    case AffinityAnswer::kFits:
      return Verdict::kFits;
    case AffinityAnswer::kError:
      return Verdict::kError;
    default:
      return Verdict::kFails;
  }
}

// Appends the reasons of a node that does not fit.
inline void AppendReasons(AffinityAnswer answer, std::vector<FailureReason>* out) {
  out->push_back(reasons::kPodAffinityNotMatch);
  switch (answer) {
    case AffinityAnswer::kExisting:
      out->push_back(reasons::kExistingPodsAntiAffinityRulesNotMatch);
      break;
    case AffinityAnswer::kAffinity:
      out->push_back(reasons::kPodAffinityRulesNotMatch);
      break;
    default:
      out->push_back(reasons::kPodAntiAffinityRulesNotMatch);
      break;
  }
}

}  // namespace berth::scheduler::interpodaffinity
