// The feature gates of Kubernetes 1.10, by name. Those of other components are known too: they are accepted everywhere
// and do nothing here.
#pragma once
#include <span>
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
// False for unknown names.
bool FeatureGateDefault(std::string_view name);

}  // namespace berth::util
