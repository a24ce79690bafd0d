// Release 1.10: its algorithms under their names, the key sets of its two providers, and what else is its own.
#pragma once
#include "pkg/scheduler/registry/release.h"

namespace berth::scheduler::algorithmprovider {

inline constexpr std::string_view kDefaultProvider = "DefaultProvider";
inline constexpr std::string_view kClusterAutoscalerProvider = "ClusterAutoscalerProvider";

const Release& V1_10();

// What feature gates change (1.10 ApplyFeatureGates), on one scheduler's copy of the registry.
void ApplyTaintNodesByCondition(Registry* registry);
void ApplyResourceLimitsPriorityFunction(Registry* registry);

}  // namespace berth::scheduler::algorithmprovider
