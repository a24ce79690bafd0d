// Compares two algorithms pod by pod and names the rule that causes each difference. This shows what changes when a
// cluster is upgraded from one release to another.
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "pkg/lab/experiment.h"

namespace berth::lab {

// A pod that two algorithms treat differently.
struct PodDifference {
  enum class Kind : uint8_t { kElsewhere, kNoLongerFits, kNewlyFits };
  Kind kind = Kind::kElsewhere;
  api::PodPtr pod;
  scheduler::Symbol before, after;  // nodes; empty if it is not placed
  std::string rule;  // the rule of the algorithm that `why` names, or "order of equals" if only the tie-break differs
  std::string why;   // one sentence
};

// Returns the pods that `after` treats differently from `before`, in the order of the scenario. Each algorithm
// continues from its own placements, so a difference may be the consequence of an earlier one. Returns an error if an
// algorithm cannot be built.
absl::StatusOr<std::vector<PodDifference>> CompareByPod(const Scenario& scenario, const Variant& before,
                                                        const Variant& after);

}  // namespace berth::lab
