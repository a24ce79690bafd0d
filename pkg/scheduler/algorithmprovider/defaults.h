// The algorithms that Kubernetes 1.10 comes with, under their names, and the key sets of its two providers.
#pragma once
#include "pkg/scheduler/factory/registry.h"

namespace berth::scheduler::algorithmprovider {

inline constexpr std::string_view kDefaultProvider = "DefaultProvider";
inline constexpr std::string_view kClusterAutoscalerProvider = "ClusterAutoscalerProvider";

void RegisterDefaults(Registry* registry);

// What feature gates change (1.10 ApplyFeatureGates), on one scheduler's copy.
void ApplyTaintNodesByCondition(Registry* registry);
void ApplyResourceLimitsPriorityFunction(Registry* registry);

}  // namespace berth::scheduler::algorithmprovider
