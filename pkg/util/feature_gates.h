// Feature gates. Which gates there are is said by each release.
#pragma once
#include <span>
#include <string_view>

namespace berth::util {

enum class GateStage { kAlpha, kBeta, kGA, kDeprecated };

struct FeatureGate {
  std::string_view name;
  GateStage stage;
  bool on;                      // enabled by default
  bool locked = false;          // whether it cannot be set to anything else
  std::string_view needs = {};  // the gate without which it cannot be on; empty: none
};

// Returns the gate of that name, or null. REQUIRES: the gates are sorted by name.
const FeatureGate* FindGate(std::span<const FeatureGate> gates, std::string_view name);

}  // namespace berth::util
