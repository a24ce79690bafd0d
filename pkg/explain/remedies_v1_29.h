// Remedies for the reasons that only release 1.29 gives.
#pragma once
#include <string>
#include <vector>

#include "pkg/explain/remedies.h"

namespace berth::explain {

// Adds what would help against a reason of a rule of release 1.29. Returns false, with nothing added, for a reason that
// is worded as in 1.10. `detail` is FitCheck::Detail.
bool AddLaterRemedies(const api::PodTemplate& pod, const api::Node& node, const scheduler::FailureReason& reason,
                      const std::string& detail, std::vector<Remedy>* out);

}  // namespace berth::explain
