// Feature gates by name: those of Kubernetes 1.10, of which the gates of other components are accepted but have no
// effect here, and those of 1.29's scheduler.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace berth::util {

enum class GateStage { kAlpha, kBeta, kGA, kDeprecated };

struct FeatureGate {
  std::string_view name;
  GateStage stage;
  bool on;  // enabled by default
};

// Returns the gates of release 1.10, sorted by name.
std::span<const FeatureGate> FeatureGates();
bool IsFeatureGate(std::string_view name);
// The same for release 1.29: the gates that its scheduler reads.
std::span<const FeatureGate> LaterFeatureGates();
bool IsLaterFeatureGate(std::string_view name);
// Returns ` (did you mean "PodPriority"?)` if `name` resembles the name of a gate, and otherwise an empty text.
std::string GateSuggestion(std::string_view name);
// Returns whether a gate of release 1.10 is enabled by default; false for unknown names.
bool FeatureGateDefault(std::string_view name);
// Returns the gate of that name, or null. REQUIRES: the gates are sorted by name.
const FeatureGate* FindGate(std::span<const FeatureGate> gates, std::string_view name);

}  // namespace berth::util
