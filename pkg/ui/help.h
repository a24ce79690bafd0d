// Explains the scheduler's terms to users who do not know what a predicate is.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "pkg/scheduler/failure_reasons.h"

namespace berth::ui {

// Return one or two sentences on what it means that a pod could not be scheduled for this reason, or that a node was
// rejected for these, and where to look. What would help is not said, because that depends on the pod. The text about a
// node is empty if a plugin or an extender, whose reasons can be anything, rejected it.
std::string_view HelpFor(scheduler::FailureReasonId id);
std::string HelpFor(const std::vector<scheduler::FailureReason>& reasons);

// Returns what a pod in this place (scheduler::PlaceName) waits for; an empty text if the name is not a place.
std::string_view PlaceInWords(std::string_view place);

// Returns what the predicate, priority or plugin with this registered name examines; an empty text for names that this
// project does not define.
std::string_view RuleInWords(std::string_view name);

}  // namespace berth::ui
