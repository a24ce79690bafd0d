// Feature gates over all releases, for what is read before it is known which release it is for.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "pkg/util/feature_gates.h"

namespace berth::releases {

// Returns the gates of the release that programs emulate by default, sorted by name. They may be named in the documents
// and flags of every release.
std::span<const util::FeatureGate> DefaultGates();
bool IsDefaultGate(std::string_view name);
// Returns ` (did you mean "PodPriority"?)` if `name` resembles the name of a gate of any release, and otherwise an
// empty text.
std::string GateSuggestion(std::string_view name);

}  // namespace berth::releases
