// Feature gates over all releases, for what is read before it is known which release it is for.
#pragma once
#include <absl/functional/function_ref.h>
#include <absl/status/status.h>

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/release/release.h"
#include "pkg/util/feature_gates.h"

namespace berth::releases {

// Returns the gates of the release that programs emulate by default, sorted by name. They may be named in the documents
// and flags of every release.
std::span<const util::FeatureGate> DefaultGates();
bool IsDefaultGate(std::string_view name);
// Returns an error if a release does not take the gate, with its text, or if it takes only the other value.
absl::Status CheckGate(const release::Id& release, std::string_view name, bool on);
// Returns an error if a gate is on that needs another, which is off. `named` are the gates that were set.
absl::Status CheckGatesNeeded(const release::Id& release, absl::FunctionRef<bool(std::string_view gate)> on);
// Returns the name without the component before it, where the release takes one: "kube:PodPriority".
std::string_view WithoutComponent(const release::Id& release, std::string_view name);
// Returns one line for each of these gates that a release reads and that has another value than its default, but has no
// effect here.
std::vector<std::string> NotesOnGates(const release::Id& release,
                                      const std::map<std::string, bool, std::less<>>& named);
// Returns ` (did you mean "PodPriority"?)` if `name` resembles the name of a gate of any release and is not one itself,
// and otherwise an empty text.
std::string GateSuggestion(std::string_view name);

}  // namespace berth::releases
