// The scheduler's terms in words for people who have never heard of predicates.
#pragma once
#include <string>
#include <string_view>

namespace berth::ui {

// Returns what would help a pod that could not be scheduled for this reason, a sentence or two. `reason` is a failure
// text or one of FailureReasonText.
std::string HelpFor(std::string_view reason);

// Returns what a pod in this place (Scheduler::PlaceName) waits for; an empty text for names that are no place.
std::string_view PlaceInWords(std::string_view place);

// Returns what a predicate, priority or plugin looks at, by its registered name; an empty text for names that this
// project does not have.
std::string_view RuleInWords(std::string_view name);

}  // namespace berth::ui
