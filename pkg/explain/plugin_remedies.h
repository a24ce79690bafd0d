// The remedies for taints, and for reasons that only releases 1.19 and later give.
#pragma once
#include <string>
#include <vector>

#include "pkg/explain/remedies.h"

namespace berth::explain {

// Adds a remedy for each taint that keeps the pod away. Taints that follow from the node's state go with it.
void AddTaintRemedies(const api::PodTemplate& pod, const api::Node& node, std::vector<Remedy>* out);

// Adds the remedies for a reason of a rule of these releases and returns true. Returns false and adds nothing if the
// reason is worded as in 1.10.
bool AddPluginRemedies(const api::PodTemplate& pod, const api::Node& node, const scheduler::FailureReason& reason,
                       const scheduler::RejectionDetail& detail, std::vector<Remedy>* out);

}  // namespace berth::explain
