// The remedies for reasons that only release 1.29 gives.
#pragma once
#include <string>
#include <vector>

#include "pkg/explain/remedies.h"

namespace berth::explain {

// Adds the remedies for a reason of a rule of release 1.29 and returns true. Returns false and adds nothing if the
// reason is worded as in 1.10. `detail` is the text of FitCheck::Detail.
bool AddPluginRemedies(const api::PodTemplate& pod, const api::Node& node, const scheduler::FailureReason& reason,
                       const std::string& detail, std::vector<Remedy>* out);

}  // namespace berth::explain
