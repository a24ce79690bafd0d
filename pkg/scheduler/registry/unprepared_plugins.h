// Plugins of release 1.29 in profiles that enable only some of their extension points: Filter without PreFilter, Score
// without PreScore, PreFilter without Filter, or PreScore without Score. Release 1.29 accepts such profiles and then
// fails, or does half of the work, for each pod.
#pragma once
#include <string_view>

#include "pkg/scheduler/algorithm/algorithm.h"

namespace berth::scheduler {

// Returns whether the plugin has a PreFilter.
bool PreparesFilter(std::string_view plugin);

// Returns the Filter of a plugin without its PreFilter. A plugin whose Filter needs the state of PreFilter reports an
// error for every node; others never reject the pod as a whole.
FitPredicate WithoutPreFilter(std::string_view plugin, FitPredicate predicate);
// Returns the PreFilter of a plugin without its Filter: it may reject the pod as a whole or restrict the nodes, and
// otherwise every node fits.
FitPredicate PreFilterAlone(FitPredicate predicate);
// Returns the Score of a plugin without its PreScore. A plugin whose Score needs the state of PreScore fails; others
// work as usual.
PriorityFunction WithoutPreScore(std::string_view plugin, PriorityFunction function);
// Returns whether the PreScore of the plugin can fail for a pod.
bool PreScoreMayFail(std::string_view plugin);
// Returns the PreScore of a plugin without its Score: it fails for an invalid pod and otherwise adds nothing to the
// totals.
PriorityFunction PreScoreAlone(PriorityFunction function);

}  // namespace berth::scheduler
