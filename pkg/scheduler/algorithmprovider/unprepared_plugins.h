// Plugins of release 1.29 in profiles that enable only a part of their extension points: Filter without PreFilter,
// Score without PreScore, PreFilter without Filter, PreScore without Score. 1.29 accepts such profiles and fails, or
// does half of the work, for each pod.
#pragma once
#include <string_view>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler::algorithmprovider {

// Returns whether the plugin has a PreFilter.
bool PreparesFilter(std::string_view plugin);

// Filter alone: plugins that need what PreFilter works out fail on every node; others never reject the pod as a whole.
FitPredicate WithoutPreFilter(std::string_view plugin, FitPredicate predicate);
// PreFilter alone: rejects the pod as a whole, and fits every node otherwise.
FitPredicate PreFilterAlone(FitPredicate predicate);
// Score alone: plugins that need what PreScore works out fail; others do not mind.
PriorityFunction WithoutPreScore(std::string_view plugin, PriorityFunction function);
// Returns whether the PreScore of a plugin can fail for a pod.
bool PreScoreMayFail(std::string_view plugin);
// PreScore alone: fails for a pod with a mistake and adds nothing otherwise.
PriorityFunction PreScoreAlone(PriorityFunction function);

}  // namespace berth::scheduler::algorithmprovider
