// The feature gates by name: those of Kubernetes 1.10, where those of other components are known too, accepted
// everywhere and without effect here; and those of 1.29's scheduler.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace berth::util {

enum class GateStage { kAlpha, kBeta, kGA, kDeprecated };

struct FeatureGate {
  std::string_view name;
  GateStage stage;
  bool on;  // by default
};

// Sorted by name.
std::span<const FeatureGate> FeatureGates();
bool IsFeatureGate(std::string_view name);
// The same for release 1.29: the gates that its scheduler reads.
std::span<const FeatureGate> LaterFeatureGates();
bool IsLaterFeatureGate(std::string_view name);
// Returns ` (did you mean "PodPriority"?)` for a name that is near a gate's, else an empty text.
std::string GateSuggestion(std::string_view name);
// False for unknown names.
bool FeatureGateDefault(std::string_view name);

}  // namespace berth::util
