// Release 1.10: its algorithms by name, the key sets of its two providers, and what else is specific to it.
#pragma once
#include "pkg/scheduler/registry/release.h"

namespace berth::scheduler::algorithmprovider {

inline constexpr std::string_view kDefaultProvider = "DefaultProvider";
inline constexpr std::string_view kClusterAutoscalerProvider = "ClusterAutoscalerProvider";

const Release& V1_10();

// Apply a feature gate to one scheduler's copy of the registry (ApplyFeatureGates of 1.10).
void ApplyTaintNodesByCondition(Registry* registry);
void ApplyResourceLimitsPriorityFunction(Registry* registry);

}  // namespace berth::scheduler::algorithmprovider
