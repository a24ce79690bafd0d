// Two algorithms on the same pods, pod by pod, with the rule that made the difference for each: what changes for a
// cluster that goes from one release to another.
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "pkg/lab/experiment.h"

namespace berth::lab {

struct PodDifference {
  enum class Kind : uint8_t { kElsewhere, kNoLongerFits, kNewlyFits };
  Kind kind = Kind::kElsewhere;
  api::PodPtr pod;
  scheduler::Symbol before, after;  // nodes; empty: not placed
  std::string rule;                 // of the algorithm that it speaks of; "order of equals" where only a tie differs
  std::string why;                  // one sentence
};

// Returns the pods that `after` treats otherwise than `before`, in the order of the scenario. Each algorithm goes on
// from its own placements, so that a difference may follow from an earlier one. Error: an algorithm that cannot be
// built.
absl::StatusOr<std::vector<PodDifference>> CompareByPod(const Scenario& scenario, const Variant& before,
                                                        const Variant& after);

}  // namespace berth::lab
